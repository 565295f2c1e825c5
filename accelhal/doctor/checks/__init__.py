"""The vendor-free checks, one file a group; `accelhal.doctor.catalogue` puts them in order."""
