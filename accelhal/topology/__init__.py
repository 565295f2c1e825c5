"""How near the boards are to one another and to the CPUs, and binding a process to that."""

from accelhal.facts import Relation
from accelhal.topology.binding import Binding, bind
from accelhal.topology.discovery import discover
from accelhal.topology.neighbourhood import Topology

__all__ = ["Binding", "Relation", "Topology", "bind", "discover"]
