// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/models/plugin.h>
#include <hesscope/storage/input_file.h>

namespace hesscope {
namespace {

constexpr const char* kSymbol = "hesscope_plugin_v1";

std::atomic<bool>& plugins_allowed() {
  static std::atomic<bool> allowed = false;
  return allowed;
}

std::string loader_message() {
  const char* message = dlerror();
  return message == nullptr ? "unknown reason" : printable(message);
}

// Never unloaded: models made by it refer to its code.
const Plugin& loaded(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path, error);  // not searched for
  if (error) {
    throw InputError(
        fmt::format("{}: cannot be loaded as a plug-in: {}", path.string(), error.message()));
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string reason = loader_message();
    const bool lacks_hesscope = reason.find("hesscope") != std::string::npos &&
                                reason.find("undefined symbol") != std::string::npos;
    throw InputError(fmt::format("{}: cannot be loaded as a plug-in: {}{}",
                                 path.string(),
                                 reason,
                                 lacks_hesscope ? "; link it with hesscope" : ""));
  }
  const auto* plugin = static_cast<const Plugin*>(dlsym(library, kSymbol));
  if (plugin == nullptr) {
    throw InputError(fmt::format(
        "{}: is no plug-in: it has no symbol '{}', which HESSCOPE_PLUGIN(function) exports",
        path.string(),
        kSymbol));
  }
  constexpr std::string_view kOwn = HESSCOPE_PLUGIN_STAMP;
  if (plugin->stamp == nullptr || plugin->stamp != kOwn) {
    throw InputError(
        fmt::format("{}: was built with [{}], this program with [{}]: build both with the same "
                    "compiler, headers "
                    "and flags",
                    path.string(),
                    plugin->stamp == nullptr ? "" : printable(plugin->stamp),
                    kOwn));
  }
  return *plugin;
}

// The model made by the plug-in. Its complaints about its inputs are passed on unchanged.
Model made_by(const Plugin& plugin,
              const std::filesystem::path& path,
              const PluginSources& sources) {
  const auto failed = [&](const std::string& why) {
    return InputError(fmt::format("{}: the plug-in failed: {}", path.string(), why));
  };
  try {
    return plugin.make(sources);
  } catch (const InputError&) {
    throw;
  } catch (const ConfigError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw failed(error.what());
  } catch (...) {
    throw failed("it threw what is no std::exception");
  }
}

const SettingTable& options_in(const Settings& settings) {
  static const SettingTable none;
  return settings.has("options") ? settings.table("options") : none;
}

Model build_plugin(const ModelSources& sources, const TensorShapes& checkpoint) {
  const std::filesystem::path path = sources.folder / sources.settings.text("file");
  if (!plugins_allowed()) {
    sources.settings.refuse(
        "file",
        fmt::format("[model] of kind 'plugin': {} is code that would run with your rights; it is "
                    "loaded only with `allow_plugins`",
                    path.string()));
  }
  const io::InputFile file(path, "a plug-in");
  const std::string sha256 = io::sha256_of(file);
  const Plugin& plugin = loaded(path);
  file.require_unchanged();  // what is loaded is what the digest is of
  Model model = made_by(plugin, path, {options_in(sources.settings), checkpoint, sources.data});
  if (model.graph == nullptr) {
    throw InputError(
        fmt::format("{}: the plug-in has made a model without a graph", path.string()));
  }
  model.files = {{path.string(), sha256}};
  if (model.invariances.empty()) model.searches_invariances = true;
  return model;
}

}  // namespace

void allow_plugins() { plugins_allowed() = true; }

ModelKind plugin_kind() {
  return {.name = "plugin",
          .summary = "a model in C++, from a shared library that is loaded if you allow it",
          .keys = {{.name = "file",
                    .meaning = "the shared library, relative to the problem file",
                    .is_path = true},
                   {.name = "options",
                    .type = SettingKey::Type::kTable,
                    .meaning = "texts by name, for the plug-in itself",
                    .is_optional = true}},
          .build = build_plugin,
          .create = [](const ModelSources& sources) {
            const std::string none = "training without a checkpoint";
            return build_plugin(sources, {.source = none, .shapes = {}});
          }};
}

}  // namespace hesscope
