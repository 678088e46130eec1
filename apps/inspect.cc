// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/problem/checkpoint_fit.h>
#include <hesscope/problem/tensor_map_file.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/tensors/tensor_file.h>

#include "commands.h"
#include "fit_report.h"
#include "group_listing.h"
#include "json_document.h"
#include "onnx_report.h"
#include "plugin_option.h"
#include "quantities_report.h"
#include "result_input.h"
#include "run_options.h"
#include "standard_streams.h"
#include "table.h"
#include "training_report.h"

namespace hesscope::cli {
namespace {

bool is_map(const std::string& path) {
  try {
    read_tensor_map(path);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

// Refuses a folder, and names a file in it to inspect instead.
void require_no_folder(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(path, none), end; !none && entry != end;
       entry.increment(none)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) files.push_back(entry->path());
  }
  const auto first = std::ranges::min_element(files);
  throw InputError(fmt::format(
      "{}: is a folder; a file is expected{}",
      path.string(),
      first == files.end() ? "" : fmt::format(", such as {} in it", first->filename().string())));
}

// The key in the whole file for `key` in its part `part`; either may be empty.
std::string key_in_whole(const io::TensorFile& whole,
                         const std::string& part,
                         const std::string& key) {
  if (part.empty() || key.empty()) return part + key;
  const std::string dotted = part + '.' + key;
  const bool is_dotted = std::ranges::any_of(whole.tensors(), [&](const io::TensorInfo& tensor) {
    return tensor.name.starts_with(dotted);
  });
  return is_dotted ? dotted : part + '/' + key;
}

// A summary of a tensor's values.
struct ValueSummary {
  double minimum = kInfinity;
  double maximum = -kInfinity;
  std::int64_t num_nan = 0;
  std::int64_t num_infinite = 0;
  bool has_numbers = false;

  explicit ValueSummary(const std::vector<double>& values) {
    for (const double value : values) {
      if (std::isnan(value)) {
        ++num_nan;
        continue;
      }
      if (std::isinf(value)) ++num_infinite;
      minimum = std::min(minimum, value);
      maximum = std::max(maximum, value);
      has_numbers = true;
    }
  }
};

class InspectCommand final : public Command {
 public:
  std::string name() const override { return "inspect"; }

  std::string summary() const override {
    return "What is in a checkpoint, a data file or a result";
  }

  std::string description() const override {
    return "Says what is in a file, whatever its format: tensors with shapes, types and ranges; of "
           "an ONNX model its inputs, operators and parameters; of a result its groups and what "
           "each variable means. With a problem file it says which tensors of a checkpoint are "
           "which parameters of the model, and can write a map of names where they differ.";
  }

  std::vector<std::string> examples() const override {
    return {"hesscope inspect step-000500.npz",
            "hesscope inspect model.safetensors --problem problem.toml",
            "hesscope inspect epoch_10.pt --problem problem.toml --write-map map.toml",
            "hesscope inspect model.onnx",
            "hesscope inspect result.h5 --group /spectrum",
            "hesscope inspect --quantities"};
  }

  void declare(OptionTable& options) override {
    options.group("Input");
    options.positionals("FILE", files_, "Checkpoints, models, data files or results");
    options.text("-p,--problem",
                 problem_,
                 "FILE.toml",
                 "Problem file: say what in the checkpoints fits its model, and what does not");
    plugins_.declare(options).only_with("--problem", [this] { return !problem_.empty(); });
    options.text("--key", key_, "PREFIX", kKeyHelp);
    options.text("--map", map_, "FILE.toml", "Which tensor is which, as for hesscope analyze");
    options.text("--group",
                 group_,
                 "NAME",
                 "Of a result: list this group only, as in / or /spectrum, with the whole text of "
                 "its attributes");
    options.flag("--operators", operators_, "List the ONNX operators that can be imported").alone();
    options
        .flag("--quantities",
              quantities_,
              "List what results can hold: each quantity's definition, unit, status and source")
        .alone();
    options.group("Output");
    options
        .text("--write-map",
              write_map_,
              "FILE.toml",
              "With --problem: write the names that might be meant, as a file for --map")
        .only_with("one checkpoint", [this] { return files_.size() == 1; })
        .only_with("--problem", [this] { return !problem_.empty(); });
    force_.declare(options, "Replace an existing map").only_with("--write-map", [this] {
      return !write_map_.empty();
    });
    options.how_to_print(
        json_, quiet_, "Print nothing: only the exit code says whether it can be read");
  }

  ExitCode run() override {
    if (operators_) return list_all(operators_text, operators_json);
    if (quantities_) return list_all(quantities_text, quantities_json);
    if (files_.empty()) throw UsageError("FILE is required");
    plugins_.apply();
    if (!problem_.empty()) model_ = read_problem_file(problem_);
    if (!map_.empty()) tensor_map_ = read_tensor_map(map_);
    bool all_fit = true;
    for (const std::string& file : files_) {
      if (!json_ && !quiet_ && &file != &files_.front()) print_text("\n");
      all_fit = inspect_or_report(file) && all_fit;
    }
    if (json_ && !quiet_) {
      print_json(files_.size() == 1 ? documents_[0]
                                    : Json{{"command", "inspect"}, {"files", documents_}});
    }
    return all_fit ? ExitCode::kDone : ExitCode::kBadInput;
  }

 private:
  ExitCode list_all(std::string (*text)(), Json (*json)()) const {
    if (json_) {
      print_json(json());
    } else if (!quiet_) {
      print_text("{}", text());
    }
    return ExitCode::kDone;
  }

  // If one of several files cannot be read, the others are still inspected.
  bool inspect_or_report(const std::string& path) {
    if (files_.size() == 1) return inspect(path);
    try {
      return inspect(path);
    } catch (const InputError& error) {
      print_message("hesscope inspect: {}\n", error.what());
      documents_.push_back({{"command", "inspect"}, {"file", path}, {"error", error.what()}});
      return false;
    }
  }

  // Returns whether it fits the problem, if there is one.
  bool inspect(const std::string& path) {
    require_no_folder(path);
    require_complete(path);
    if (io::is_result_file(path)) {
      if (model_ || tensor_map_ || !key_.empty()) {
        throw InputError(fmt::format("{}: is a hesscope result, not a checkpoint", path));
      }
      const io::ResultReader result(path);
      if (!quiet_) inspect_result(path, result);
      return true;
    }
    if (!group_.empty()) {
      throw InputError(fmt::format("{}: is not a hesscope result: --group is of results", path));
    }
    io::TensorFile file = io::open_tensor_file(path);
    if (!write_map_.empty()) require_place_for_map(file);
    const std::string sha256 = io::sha256_of(file);
    file = file.part(key_);
    if (tensor_map_) file = io::mapped(file, *tensor_map_);
    std::optional<CheckpointFit> fit;
    if (model_) fit = fit_checkpoint(*model_, file);
    if (fit && has_suggestion(*fit) && !tensor_map_) {  // a map for use without --key
      fit->suggestion.key = key_in_whole(file.whole(), key_, fit->suggestion.key);
    }
    if (quiet_) {
      for (const io::TensorInfo& tensor : file.tensors()) file.read(tensor.name);
    } else {
      inspect_tensors(path, file, sha256, fit, graph_of(file, fit));
    }
    if (!write_map_.empty()) return write_map(file, *fit);
    return !fit || fit->fits();
  }

  // The graph of the problem, or else that of the file.
  std::optional<OnnxInspection> graph_of(const io::TensorFile& file,
                                         const std::optional<CheckpointFit>& fit) const {
    if (fit && fit->model_kind == "onnx") return inspect_graph(*model_, file, *fit);
    if (file.format() == "onnx") return inspect_graph(file);
    return std::nullopt;
  }

  // Called before anything is printed.
  void require_place_for_map(const io::TensorFile& checkpoint) const {
    std::vector<std::filesystem::path> inputs = checkpoint.other_files();
    inputs.insert(inputs.end(), {checkpoint.path(), problem_, map_});
    inputs.insert(inputs.end(), model_->data_files.begin(), model_->data_files.end());
    if (model_->model.has("file")) {
      inputs.push_back(model_->path.parent_path() / model_->model.text("file"));
    }
    require_apart(write_map_, inputs, "an input itself");
    io::require_replaceable(
        write_map_, force_.overwrite(), "a map of names", [&] { return is_map(write_map_); });
  }

  void write_whole_map(const io::TensorMap& map) const {
    io::write_whole(write_map_, resolved_toml(map), io::existing_of(force_.overwrite()));
  }

  // Writes a map. Returns whether the checkpoint fits with the names that were written.
  bool write_map(const io::TensorFile& file, const CheckpointFit& fit) const {
    if (fit.fits()) {  // an empty map tells the next command so
      write_whole_map({.key = key_});
      if (!json_ && !quiet_) {
        print_text("\nwritten to {}, with no name in it: the checkpoint fits as it is{}\n",
                   write_map_,
                   key_.empty() ? "" : fmt::format(" under '{}'", key_));
      }
      return true;
    }
    if (!fit.doubt.empty()) {
      throw InputError(fmt::format(
          "{}: which of its tensors are the parameters of {} cannot be inferred: {}; no map was "
          "written. Write it by hand and compare the loss by hesscope analyze --map {} "
          "--expect-loss NUMBER",
          file.where(),
          problem_,
          fit.doubt,
          write_map_));
    }
    if (!has_suggestion(fit)) {
      throw InputError(
          fmt::format("{}: which of its tensors are the parameters of {} cannot be inferred from "
                      "shapes and names; no map was written",
                      file.where(),
                      problem_));
    }
    const bool fits = fit_checkpoint(*model_, io::mapped(file.whole(), fit.suggestion)).fits();
    write_whole_map(fit.suggestion);
    if (!json_ && !quiet_) {
      print_text("\nwritten to {}; with it the checkpoint {}\n",
                 write_map_,
                 fits ? "fits" : "does not fit yet");
    }
    return fits;
  }

  void inspect_tensors(const std::string& path,
                       const io::TensorFile& file,
                       const std::string& sha256,
                       const std::optional<CheckpointFit>& fit,
                       const std::optional<OnnxInspection>& graph) {
    Json tensors = Json::list();
    std::vector<std::vector<std::string>> rows = {
        {"tensor", "shape", "type", "min", "max", "NaN", "inf"}};
    std::int64_t total = 0;
    for (const io::TensorInfo& tensor : file.tensors()) {
      const ValueSummary values(file.read(tensor.name));
      total += tensor.num_elements();
      const std::string min = values.has_numbers ? number_text(values.minimum) : "-";
      const std::string max = values.has_numbers ? number_text(values.maximum) : "-";
      rows.push_back({tensor.name,
                      shape_text(tensor.shape),
                      std::string(io::to_string(tensor.type)),
                      min,
                      max,
                      fmt::format("{}", values.num_nan),
                      fmt::format("{}", values.num_infinite)});
      tensors.push_back({{"name", tensor.name},
                         {"shape", tensor.shape},
                         {"type", io::to_string(tensor.type)},
                         {"min", values.minimum},
                         {"max", values.maximum},
                         {"nan", values.num_nan},
                         {"infinite", values.num_infinite}});
    }
    if (json_) {
      Json unreadable = Json::list();
      for (const io::UnreadableTensor& tensor : file.unreadable()) {
        unreadable.push_back({{"name", tensor.name}, {"reason", tensor.reason}});
      }
      documents_.push_back({{"command", "inspect"},
                            {"file", path},
                            {"kind", "tensors"},
                            {"format", file.format()},
                            {"sha256", sha256},
                            {"tensors", tensors},
                            {"unreadable", unreadable},
                            {"elements", total}});
      documents_.back()["training"] = training_json(file);
      if (graph) documents_.back()["graph"] = graph_json(*graph);
      if (fit) documents_.back()["fit"] = fit_json(*fit, problem_);
      return;
    }
    print_text("{}: {}, {} tensors, {} numbers\nsha256 {}\n\n{}",
               path,
               file.format(),
               file.tensors().size(),
               total,
               sha256,
               table_text(rows, 3));
    for (const io::UnreadableTensor& tensor : file.unreadable()) {
      print_text("not read: {}: {}\n", tensor.name, tensor.reason);
    }
    print_text("{}", training_text(file));
    if (graph) print_text("\n{}", graph_text(*graph));
    if (fit) print_text("\n{}", fit_text(*fit, problem_));
  }

  void inspect_result(const std::string& path, const io::ResultReader& result) {
    if (json_) {
      documents_.push_back({{"command", "inspect"},
                            {"file", path},
                            {"kind", "result"},
                            {"groups", listing_json(result, group_)}});
    } else {
      print_text("{}: hesscope result\n\n{}", path, listing_text(result, group_));
    }
  }

  std::vector<std::string> files_;
  std::string problem_;
  std::string key_;
  std::string map_;
  std::string group_;
  std::string write_map_;
  PluginOption plugins_;
  std::optional<ProblemFile> model_;
  std::optional<io::TensorMap> tensor_map_;
  std::vector<Json> documents_;  // one for each file, for JSON
  ForceOption force_;
  bool json_ = false;
  bool operators_ = false;
  bool quantities_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace hesscope::cli
