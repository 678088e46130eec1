// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/internal/checkpoint_keys.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/fit_advice.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope::detail {
namespace {

Model fitted(const ProblemFile& problem,
             const TensorShapes& data,
             const io::TensorFile& checkpoint) {
  const TensorShapes shapes = parameter_shapes_of(checkpoint);
  Model model = build_model(problem, data, shapes);
  require_parameters(model, shapes);
  return model;
}

bool fits(const ProblemFile& problem, const TensorShapes& data, const io::TensorFile& checkpoint) {
  try {
    fitted(problem, data, io::unwrapped(checkpoint));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// "state" for "state.module".
std::string without_wrapper_at_end(std::string key) {
  for (const std::string wrapper : {".module", "._orig_mod", ".module"}) {
    if (key.ends_with(wrapper)) key.resize(key.size() - wrapper.size());
  }
  return key;
}

// Keys of the checkpoint under which there are exactly the parameters.
std::vector<std::string> fitting_keys(const ProblemFile& problem,
                                      const TensorShapes& data,
                                      const io::TensorFile& checkpoint) {
  std::vector<std::string> keys;
  for (const std::string& key : keys_in(checkpoint)) {
    if (std::ranges::find(keys, without_wrapper_at_end(key)) != keys.end()) continue;
    const io::TensorFile part = checkpoint.part(key);
    if (fits(problem, data, part)) keys.push_back(part.key());
  }
  return keys;
}

bool is_data_file(const ProblemFile& problem, const io::TensorFile& checkpoint) {
  return std::ranges::any_of(problem.data_files, [&](const std::filesystem::path& data) {
    std::error_code none;  // a nonexistent file is not the checkpoint
    return std::filesystem::equivalent(data, checkpoint.path(), none);
  });
}

// Whether the checkpoint is the graph itself: then other names cannot be meant.
bool is_the_graph(const ProblemFile& problem, const io::TensorFile& checkpoint) {
  if (problem.model_kind != "onnx") return false;
  std::error_code none;
  return std::filesystem::equivalent(
      problem.path.parent_path() / problem.model.text("file"), checkpoint.path(), none);
}

// What to do if only a part of the file was examined, because of its key.
std::string advice_on_key(const ProblemFile& problem,
                          const TensorShapes& data,
                          const io::TensorFile& checkpoint) {
  if (checkpoint.key().empty()) return "";
  const io::TensorFile whole = checkpoint.whole();
  const std::string looked_at =
      fmt::format("; only what stands under '{}' was looked at", checkpoint.key());
  if (fits(problem, data, whole)) return looked_at + ", and the whole file fits: leave `key` out";
  const std::vector<std::string> keys = fitting_keys(problem, data, whole);
  if (keys.empty()) return looked_at + ", but nothing else in the file fits either";
  return fmt::format("{}; what stands under '{}' fits: choose `key` {}",
                     looked_at,
                     fmt::join(keys, "', '"),
                     keys.front());
}

}  // namespace

std::string only_parts_fit(const ProblemFile& problem,
                           const io::TensorFile& checkpoint,
                           const std::vector<std::string>& keys) {
  return fmt::format("{}: does not fit {} as a whole; what stands under '{}' does",
                     checkpoint.where(),
                     problem.path.string(),
                     fmt::join(keys, "', '"));
}

Model fitted_or_advised(const ProblemFile& problem,
                        const TensorShapes& data,
                        const io::TensorFile& checkpoint) {
  try {
    return fitted(problem, data, checkpoint);
  } catch (const InputError& error) {
    const std::vector<std::string> keys = fitting_keys(problem, data, checkpoint);
    const std::string message = error.what();
    const bool is_of_checkpoint = message.starts_with(checkpoint.where() + ":");
    if (keys.empty() && (!is_of_checkpoint || is_the_graph(problem, checkpoint))) throw;
    if (keys.empty() && is_data_file(problem, checkpoint)) {
      throw InputError(fmt::format("{}: is the data file of {}, not a checkpoint",
                                   checkpoint.where(),
                                   problem.path.string()));
    }
    if (keys.empty()) {
      throw MisfitError(fmt::format("{}. {} asks for a model of kind '{}'{}",
                                    message,
                                    problem.path.string(),
                                    problem.model_kind,
                                    advice_on_key(problem, data, checkpoint)),
                        checkpoint.path(),
                        problem.path);
    }
    throw InputError(fmt::format("{}: choose {}`key` {}",
                                 only_parts_fit(problem, checkpoint, keys),
                                 keys.size() > 1 ? "one of them, as by " : "",
                                 keys.front()));
  }
}

std::string arrays_that_fit(const ModelKind& kind,
                            const ProblemFile& problem,
                            const io::TensorFile& checkpoint,
                            const TensorShapes& data) {
  if (!problem.data_arrays.rules.empty()) return {};
  return suggested_arrays(kind, data, [&](const TensorShapes& renamed) {
    try {
      require_arrays(fitted(problem, renamed, checkpoint), renamed);
      return true;
    } catch (const InputError&) {
      return false;
    }
  });
}

}  // namespace hesscope::detail
