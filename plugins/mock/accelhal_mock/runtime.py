"""Runtime of python mode: torch's device module for the boards, and what it does not tell."""

from __future__ import annotations

from accelhal.errors import ErrorKind
from accelhal.facts import BoardKey, DeviceProperties, Location
from accelhal.runtimes.error_messages import classify_message
from accelhal.runtimes.torch_module import TorchModuleRuntime
from accelhal_mock import installation
from accelhal_mock.board_facts import properties
from accelhal_mock.simulation.error_texts import MESSAGE_KINDS


class PythonRuntime(TorchModuleRuntime):
    """The simulated boards as torch sees them."""

    def __init__(self, device_type: str) -> None:
        super().__init__(device_type, "simulated", graph_class="MockGraph", simulated=True)

    def device_count(self) -> int:
        return installation.board_count("python")

    def properties(self, index: int) -> DeviceProperties:
        return properties(installation.machine().board(index))

    def locate(self, index: int) -> Location:
        board = installation.machine().board(index)
        return Location(BoardKey(self.device_type, "uuid", board.uuid))

    def classify_error(self, error: BaseException) -> ErrorKind:
        return classify_message(error, MESSAGE_KINDS)
