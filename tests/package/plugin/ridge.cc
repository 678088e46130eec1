// SPDX-License-Identifier: BSD-3-Clause
//
// Ridge regression, f = (w^T x - y)^2 + lambda |w|^2, with lambda from [model.options].
#include <string>

#include <hesscope/hesscope.h>
#include <hesscope/models/plugin.h>

namespace {

hesscope::Model ridge(const hesscope::PluginSources& sources) {
  const std::int64_t d = sources.data.at("inputs", 2, "(samples, d)")[1];
  const auto lambda = sources.options.find("lambda");
  const double factor = lambda == sources.options.end() ? 0.0 : std::stod(lambda->second);
  hesscope::ModelBuilder b("ridge");
  const hesscope::Var w = b.parameter("weight", {d});
  const hesscope::Var x = b.array("inputs", {d});
  const hesscope::Var y = b.array("target", {});
  return b.finish(square(matmul_tn(w, x) - y) + factor * sum(square(w)));
}

}  // namespace

HESSCOPE_PLUGIN(ridge);
