// Results of the driver that the machine itself can cause; numbers as documented for the CUDA driver API.
#pragma once

namespace simt {

constexpr int ILLEGAL_ADDRESS = 700, MISALIGNED_ADDRESS = 716, LAUNCH_FAILED = 719;

} // namespace simt
