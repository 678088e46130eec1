// SPDX-License-Identifier: BSD-3-Clause
//
// C++ models loaded at run time: a shared library with one function that records the forward pass
// of a sample.
//
//   #include <hesscope/hesscope.h>
//   #include <hesscope/models/plugin.h>
//
//   hesscope::Model ridge(const hesscope::PluginSources& sources) {
//     const auto d = sources.data.at("inputs", 2, "(samples, d)")[1];
//     hesscope::ModelBuilder b("ridge");
//     const hesscope::Var w = b.parameter("weight", {d});
//     const hesscope::Var x = b.array("inputs", {d});
//     const hesscope::Var z = matmul_tn(w, x);
//     b.set_prediction(z);
//     return b.finish(square(z - b.array("target", {})));
//   }
//   HESSCOPE_PLUGIN(ridge);
//
// and in the problem file [model] kind = "plugin", file = "libridge.so". A plug-in is code: it is
// loaded only after allow_plugins(), which a program calls if its user agrees. It must be built
// with the same compiler, library and headers as the program; a stamp of these is compared before
// anything is called.
#pragma once

#include <cstdint>
#include <string>

#include <hesscope/core/eigen.h>
#include <hesscope/core/settings.h>
#include <hesscope/core/version.h>
#include <hesscope/models/model_registry.h>

namespace hesscope {

/// What a plug-in builds its model from.
struct PluginSources {
  const SettingTable& options;     ///< [model.options] of the problem file
  const TensorShapes& checkpoint;  ///< names and shapes, for sizes; empty for a training
  const TensorShapes& data;
};

/// The type of the symbol `hesscope_plugin_v1`.
struct Plugin {
  const char* stamp;                    ///< HESSCOPE_PLUGIN_STAMP of the plug-in
  Model (*make)(const PluginSources&);  ///< throws InputError, ConfigError as ModelKind::build
};

/// Allows this process to load plug-ins: foreign code with all rights of the process.
void allow_plugins();

ModelKind plugin_kind();

}  // namespace hesscope

#define HESSCOPE_PLUGIN_TEXT_OF(x) #x
#define HESSCOPE_PLUGIN_TEXT(x) HESSCOPE_PLUGIN_TEXT_OF(x)

/// Identifies the memory layout of types: the library, the compiler, its C++ library, and Eigen.
#define HESSCOPE_PLUGIN_STAMP \
  "hesscope " HESSCOPE_VERSION ", C++ ABI " HESSCOPE_PLUGIN_TEXT(__GXX_ABI_VERSION) \
  ", compiler " __VERSION__ ", Eigen " HESSCOPE_PLUGIN_TEXT(EIGEN_WORLD_VERSION) "." \
  HESSCOPE_PLUGIN_TEXT(EIGEN_MAJOR_VERSION) ", alignment "                          \
  HESSCOPE_PLUGIN_TEXT(EIGEN_DEFAULT_ALIGN_BYTES)                                   \
  ", malloc " HESSCOPE_PLUGIN_TEXT(EIGEN_MALLOC_ALREADY_ALIGNED)

/// Exports `make`, a function Model(const PluginSources&); to be used once in a shared library.
#define HESSCOPE_PLUGIN(make)                                                              \
  extern "C" {                                                                             \
  extern __attribute__((visibility("default"))) const hesscope::Plugin hesscope_plugin_v1; \
  const hesscope::Plugin hesscope_plugin_v1 = {HESSCOPE_PLUGIN_STAMP, make};               \
  }                                                                                        \
  static_assert(true, "a semicolon may follow")
