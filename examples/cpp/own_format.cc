// SPDX-License-Identifier: BSD-3-Clause
//
// A checkpoint format of one's own: files of text, whose lines are a name, a colon and numbers.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

// [format]
namespace io = hesscope::io;

constexpr char kMark[] = "#lines\n";  // what these files begin with

// "weight: 1 2 3" is a tensor of 3 numbers.
class LinesSource final : public io::TensorSource {
 public:
  explicit LinesSource(std::shared_ptr<const io::InputFile> file) : files_{std::move(file)} {
    std::istringstream text(files_[0]->text_at(0, files_[0]->size()));
    std::string line;
    std::getline(text, line);  // the mark
    while (std::getline(text, line)) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) {
        throw hesscope::InputError(files_[0]->path().string() + ": no colon in '" + line + "'");
      }
      std::istringstream numbers(line.substr(colon + 1));
      std::vector<double>& values = values_.emplace_back();
      for (double number = 0; numbers >> number;) values.push_back(number);
      tensors_.push_back({line.substr(0, colon), {static_cast<std::int64_t>(values.size())}});
    }
  }

  std::span<const io::TensorInfo> tensors() const override { return tensors_; }

  std::vector<double> read(std::size_t index) const override { return values_[index]; }

  std::span<const std::shared_ptr<const io::InputFile>> files() const override { return files_; }

 private:
  std::vector<std::shared_ptr<const io::InputFile>> files_;
  std::vector<io::TensorInfo> tensors_;
  std::vector<std::vector<double>> values_;
};

io::FormatKind lines_format() {
  return {.name = "lines",
          .extension = ".lines",
          .summary = "lines of numbers",
          .recognises =
              [](const io::InputFile& file) { return file.text_at(0, sizeof kMark - 1) == kMark; },
          .open = [](std::shared_ptr<const io::InputFile> file,
                     const io::ReadLimits&) -> std::unique_ptr<io::TensorSource> {
            return std::make_unique<LinesSource>(std::move(file));
          }};
}

// [format]

int main() {
  std::ofstream("step-0.lines") << "#lines\nweight: 1 -1\nbias: 0.5\n";

  // [run]
  io::register_format_kind(lines_format());
  const io::TensorFile checkpoint = io::open_tensor_file("step-0.lines");
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    std::cout << tensor.name << ", " << tensor.num_elements() << " numbers\n";
  }
  // [run]

  const bool is_read = checkpoint.format() == "lines" &&
                       checkpoint.read("weight") == std::vector<double>{1.0, -1.0} &&
                       checkpoint.read("bias") == std::vector<double>{0.5};
  return is_read ? 0 : 1;
}
