// The device guard that a CPU build of torch lacks for CUDA: in-place copies and gradients ask one.
// It guards nothing, for the simulation keeps what is current by itself.
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {
C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>)
}
