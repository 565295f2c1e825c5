"""The smallest backend: what interface 1.0 requires and nothing more. Never extend it."""

from accelhal.facts import DeviceProperties, Probe, ProbeStatus, SupportedDtypes
from accelhal.spi import BackendSpec, Runtime


def probe(host):
    hidden = host.environ.get("TINY_VISIBLE_DEVICES") == ""
    if hidden:
        return Probe(ProbeStatus.HIDDEN_BY_ENV, 0, "TINY_VISIBLE_DEVICES is empty", "unset it")
    return Probe(ProbeStatus.AVAILABLE, 2, "two tiny devices", evidence={"/dev/tiny0": "there"})


def open_runtime():
    import torch

    class TinyRuntime(Runtime):
        def __init__(self):
            self.current = 0
            self.states = [torch.Generator().manual_seed(0) for _ in range(2)]

        def device_count(self):
            return 2

        def torch_device(self, index):
            return torch.device("cpu")

        def properties(self, index):
            return DeviceProperties(name=f"Tiny {index}", vendor="Tiny Works")

        def capabilities(self, index):
            return {}

        def supported_dtypes(self, index):
            only = frozenset({torch.float32})
            return SupportedDtypes(only, only, frozenset())

        def current_device(self):
            return self.current

        def set_device(self, index):
            self.current = index

        def synchronize(self, index):
            pass

        def manual_seed(self, index, seed):
            self.states[index].manual_seed(seed)

        def get_rng_state(self, index):
            return self.states[index].get_state()

        def set_rng_state(self, index, state):
            self.states[index].set_state(state)

    return TinyRuntime()


SPEC = BackendSpec(
    name="tiny",
    vendor="Tiny Works",
    api_version=(1, 0),
    priority=5,
    probe=probe,
    open_runtime=open_runtime,
)
