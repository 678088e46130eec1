// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/models/attention.h>
#include <hesscope/models/attention_classifier.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/models/signal_noise.h>

namespace hesscope {

std::vector<SettingKey> ModelKind::keys_with_sizes() const {
  std::vector<SettingKey> all = keys;
  all.insert(all.end(), size_keys.begin(), size_keys.end());
  return all;
}

std::span<const ModelKind> model_kinds() {
  static const std::vector<ModelKind> kinds = {
      linear_attention_kind(),
      attention_kind(),
      attention_classifier_kind(),
      signal_noise_kind(),
      mlp_kind(),
  };
  return kinds;
}

const ModelKind* find_model_kind(const std::string& name) {
  const auto kinds = model_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const ModelKind& k) { return k.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace hesscope
