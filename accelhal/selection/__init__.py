"""Choosing boards for stated needs: from this host, or from a snapshot of another."""

from accelhal.selection.masks import mask_for as mask_for
from accelhal.selection.needs import PRESETS as PRESETS, Needs as Needs
from accelhal.selection.ranking import Choice as Choice, Reason as Reason, rank as rank
