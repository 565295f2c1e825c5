"""Profiles: what a simulated board is, by name of a real one or as the user describes it."""

from accelhal_mock.profiles.catalogue import load_profile, profile_names
from accelhal_mock.profiles.profile import BoardProfile, ChipLink, Pcie, Slice, Thermals

__all__ = [
    "BoardProfile",
    "ChipLink",
    "Pcie",
    "Slice",
    "Thermals",
    "load_profile",
    "profile_names",
]
