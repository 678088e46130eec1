// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string_view>

#include <hesscope/problem/internal/checkpoint_keys.h>

namespace hesscope::detail {
namespace {

// Whether it comes from `hesscope train`, or from a state_dict() of torch.optim at any place:
// "opt.state.0.momentum_buffer". Momenta have the shapes of the parameters, and their order.
bool is_of_optimizer(std::string_view name) {
  constexpr std::string_view kState = "state.";
  if (name.starts_with("optimizer.")) return true;
  for (std::size_t at = name.find(kState); at != std::string_view::npos;
       at = name.find(kState, at + 1)) {
    const std::string_view rest = name.substr(at + kState.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const bool is_key = at == 0 || name[at - 1] == '.';
    if (is_key && digits > 0 && rest.substr(digits).starts_with('.')) return true;
  }
  return false;
}

}  // namespace

std::set<std::string> keys_in(const io::TensorFile& checkpoint) {
  constexpr std::size_t kMaxKeys = 1000;
  std::set<std::string> keys;
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    if (is_of_optimizer(tensor.name)) continue;
    for (std::size_t i = 1; i < tensor.name.size() && keys.size() < kMaxKeys; ++i) {
      if (tensor.name[i] == '.' || tensor.name[i] == '/') keys.insert(tensor.name.substr(0, i));
    }
  }
  return keys;
}

}  // namespace hesscope::detail
