#include "trial_runner/training/autocast.h"

#include <ATen/autocast_mode.h>

namespace rung::training {

Bf16Autocast::Bf16Autocast(c10::DeviceType device, bool enabled)
    : device_(device), enabled_(enabled) {
  if (!enabled_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(device_);
  dtype_before_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::increment_nesting();
  at::autocast::set_autocast_dtype(device_, at::kBFloat16);
  at::autocast::set_autocast_enabled(device_, true);
}

Bf16Autocast::~Bf16Autocast() {
  if (!enabled_) return;
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, dtype_before_);
  // The outermost scope drops the cached bfloat16 copies of parameters, which the update makes
  // stale.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

}  // namespace rung::training
