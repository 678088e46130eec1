// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/problem/tensor_map_file.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/tensor_conversion.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

#include "commands.h"
#include "json_document.h"
#include "run_options.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

bool is_tensor_file(const std::string& path) {
  if (io::is_result_file(path)) return false;
  try {
    io::open_tensor_file(path);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

class ConvertCommand final : public Command {
 public:
  std::string name() const override { return "convert"; }

  std::string summary() const override { return "A checkpoint or data file in another format"; }

  std::string description() const override {
    return "Reads a checkpoint or data file of any known format and writes its tensors in another "
           "one. What the other format cannot hold is an error that names the tensor.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope convert step-000500.h5 step-000500.safetensors",
        "hesscope convert model.safetensors model.npz --type float32",
        "hesscope convert checkpoint.pt weights.safetensors --key model_state_dict",
        "hesscope convert model.weights.h5 model.npz --map map.toml",
    };
  }

  void declare(OptionTable& options) override {
    options.group("Input");
    options.positional("IN", input_, "Checkpoint or data file");
    options.group("Output");
    options.positional(
        "OUT", output_, "File to write: .npz, .npy (one tensor), .safetensors or .h5");
    options.group("Input");
    options.text("--key", key_, "PREFIX", kKeyHelp);
    options.text("--map", map_, "FILE.toml", "Which tensor is which, as for hesscope analyze");
    options.group("Output");
    options.choice("--type",
                   type_,
                   {"float64", "float32"},
                   "Type to give all floating-point tensors (default: the one that each has)");
    force_.declare(options, "Replace an existing checkpoint or data file");
    options.how_to_print(json_, quiet_);
  }

  ExitCode run() override {
    std::error_code none;  // a missing file is reported when it is opened
    if (std::filesystem::exists(input_, none) && io::is_result_file(input_)) {
      throw InputError(
          fmt::format("{}: is a hesscope result, not a tensor file; see hesscope export", input_));
    }
    std::optional<io::ElementType> type;
    if (type_ == "float32") type = io::ElementType::kFloat32;
    if (type_ == "float64") type = io::ElementType::kFloat64;
    const io::TensorFile part = io::open_tensor_file(input_).part(key_);
    std::vector<std::filesystem::path> read = part.other_files();
    read.insert(read.end(), {input_, map_});
    require_apart(output_, read, "the input itself, or a part of it");
    const io::TensorFile input = map_.empty() ? part : io::mapped(part, read_tensor_map(map_));
    io::require_replaceable(output_, force_.overwrite(), "a checkpoint or data file", [&] {
      return is_tensor_file(output_);
    });
    const io::Conversion conversion =
        io::convert_tensors(input, output_, type, io::existing_of(force_.overwrite()));
    if (json_) {
      print_json(document_of(input, conversion));
    } else if (!quiet_) {
      const std::size_t count = conversion.tensors.size();
      print_text("{} tensor{} written to {}\n", count, count == 1 ? "" : "s", output_);
    }
    for (const std::string& note : conversion.notes) {
      if (!quiet_) print_message("hesscope convert: note: {}\n", note);
    }
    return ExitCode::kDone;
  }

 private:
  Json document_of(const io::TensorFile& input, const io::Conversion& conversion) const {
    Json document;
    document["command"] = "convert";
    document["input"] = input_;
    document["input_format"] = input.format();
    document["input_sha256"] = io::sha256_of(input);
    document["output"] = output_;
    document["format"] = conversion.format;
    document["sha256"] = io::sha256_of_file(output_);
    document["tensors"] = Json::list();
    for (const io::ConvertedTensor& tensor : conversion.tensors) {
      document["tensors"].push_back({{"name", tensor.name},
                                     {"shape", tensor.shape},
                                     {"from", io::to_string(tensor.from)},
                                     {"type", io::to_string(tensor.to)}});
    }
    document["notes"] = conversion.notes;
    return document;
  }

  std::string input_;
  std::string output_;
  std::string key_;
  std::string map_;
  std::string type_;
  ForceOption force_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace hesscope::cli
