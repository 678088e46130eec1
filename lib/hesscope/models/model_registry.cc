// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/growing_list.h>
#include <hesscope/core/internal/setting_fallback.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/attention_classifier.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/linear_attention_population.h>
#include <hesscope/models/mlp.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/models/onnx_model.h>
#include <hesscope/models/plugin.h>
#include <hesscope/models/signal_noise.h>

namespace hesscope {

std::vector<SettingKey> ModelKind::keys_with_sizes() const {
  std::vector<SettingKey> all = keys;
  all.insert(all.end(), size_keys.begin(), size_keys.end());
  return all;
}

namespace {

GrowingList<ModelKind>& model_registry() {
  static GrowingList<ModelKind> kinds({
      linear_attention_kind(),
      linear_attention_population_kind(),
      attention_kind(),
      attention_classifier_kind(),
      signal_noise_kind(),
      mlp_kind(),
      onnx_kind(),
      plugin_kind(),
  });
  return kinds;
}

}  // namespace

std::span<const ModelKind> model_kinds() { return model_registry().all(); }

void register_model_kind(ModelKind kind) {
  const auto refuse = [name = printable(kind.name)](const std::string& why) {
    throw PreconditionError(fmt::format("register_model_kind: kind '{}' {}", name, why));
  };
  if (!kind.build) refuse("has no function `build`");
  const std::string problem = detail::kind_problem(kind.name, kind.keys_with_sizes(), {"kind"});
  if (!problem.empty()) refuse(problem);
  if (!kind.create) {
    kind.create = [name = kind.name](const ModelSources&) -> Model {
      throw ConfigError(
          fmt::format("models of kind '{}' cannot be made without a checkpoint: their ModelKind "
                      "has no `create`",
                      name));
    };
  }
  add_kind(model_registry(), std::move(kind), refuse);
}

const ModelKind* find_model_kind(const std::string& name) {
  return find_or_null(model_kinds(), name);
}

}  // namespace hesscope
