// SPDX-License-Identifier: BSD-3-Clause
//
// The functions are those of torch/_utils.py and torch/_tensor.py, PyTorch 1.6 to 2.x.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <hesscope/core/printable.h>
#include <hesscope/storage/internal/read_checks.h>
#include <hesscope/tensors/internal/torch/pickle_view.h>
#include <hesscope/tensors/internal/torch/torch_tensors.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kUtils = "torch._utils";

struct NamedType {
  std::string_view storage;  ///< class of a storage of one type
  std::string_view dtype;
  ElementType type;
};

constexpr std::array<NamedType, 13> kTypes = {{
    {"DoubleStorage", "float64", ElementType::kFloat64},
    {"FloatStorage", "float32", ElementType::kFloat32},
    {"HalfStorage", "float16", ElementType::kFloat16},
    {"BFloat16Storage", "bfloat16", ElementType::kBFloat16},
    {"LongStorage", "int64", ElementType::kInt64},
    {"IntStorage", "int32", ElementType::kInt32},
    {"ShortStorage", "int16", ElementType::kInt16},
    {"CharStorage", "int8", ElementType::kInt8},
    {"ByteStorage", "uint8", ElementType::kUInt8},
    {"BoolStorage", "bool", ElementType::kBool},
    {"", "uint16", ElementType::kUInt16},
    {"", "uint32", ElementType::kUInt32},
    {"", "uint64", ElementType::kUInt64},
}};

/// "torch.FloatStorage", or as much of it as fits into a message.
std::string dotted(std::string_view global) {
  constexpr std::size_t kMaxShown = 100;
  const std::size_t end = global.find('\n');
  return escaped(global.substr(0, std::min(end, kMaxShown))) + "." +
         escaped(global.substr(end + 1).substr(0, kMaxShown));
}

class Describer : private PickleView {
 public:
  Describer(const std::string& where, const PickleDocument& document, const ReadLimits& limits)
      : PickleView(where, document), limits_(limits) {}

  std::variant<TorchTensor, std::string> describe(PickleIndex node) const {
    PickleIndex function = document_.object(node).callable;
    std::vector<PickleIndex> arguments = document_.elements(document_.object(node).arguments);
    // Parameters and subclasses wrap a tensor, finitely often: a wrapper is created after its
    // content.
    while (!is_plain(function)) {
      if (document_.is_global(function, kUtils, "_rebuild_parameter") ||
          document_.is_global(function, kUtils, "_rebuild_parameter_with_state")) {
        const PickleIndex data = argument(node, arguments, 0);
        if (!is_torch_tensor(document_, data)) refuse(node, "a parameter holds no tensor");
        node = data;
        function = document_.object(node).callable;
        arguments = document_.elements(document_.object(node).arguments);
      } else if (document_.is_global(function, "torch._tensor", "_rebuild_from_type") ||
                 document_.is_global(function, "torch._tensor", "_rebuild_from_type_v2")) {
        function = argument(node, arguments, 0);
        arguments = document_.elements(argument(node, arguments, 2, PickleKind::kTuple));
        if (document_.kind(function) != PickleKind::kGlobal) {
          return "it is made by something else than a function of torch";
        }
      } else {
        return fmt::format("it is made by {}", dotted(document_.text(function)));
      }
    }
    return plain(node, function, arguments);
  }

 private:
  bool is_plain(PickleIndex function) const {
    return document_.is_global(function, kUtils, "_rebuild_tensor") ||
           document_.is_global(function, kUtils, "_rebuild_tensor_v2") || is_v3(function);
  }

  bool is_v3(PickleIndex function) const {
    return document_.is_global(function, kUtils, "_rebuild_tensor_v3");
  }

  PickleIndex argument(PickleIndex node,
                       std::span<const PickleIndex> arguments,
                       std::size_t index) const {
    if (index >= arguments.size()) refuse(node, "damaged: argument {} is missing", index + 1);
    return arguments[index];
  }

  PickleIndex argument(PickleIndex node,
                       std::span<const PickleIndex> arguments,
                       std::size_t index,
                       PickleKind kind) const {
    const PickleIndex found = argument(node, arguments, index);
    if (document_.kind(found) != kind) {
      refuse(found,
             "damaged: argument {} is {}, {} is expected",
             index + 1,
             to_string(document_.kind(found)),
             to_string(kind));
    }
    return found;
  }

  /// A number >= 0.
  std::int64_t count(PickleIndex node,
                     std::span<const PickleIndex> arguments,
                     std::size_t index,
                     std::string_view meaning) const {
    const PickleIndex found = argument(node, arguments, index, PickleKind::kInteger);
    const std::int64_t value = document_.integer(found);
    if (value < 0) refuse(found, "its {} {} is negative", meaning, value);
    return value;
  }

  std::vector<std::int64_t> counts(PickleIndex node,
                                   std::span<const PickleIndex> arguments,
                                   std::size_t index,
                                   std::string_view meaning) const {
    PickleIndex found = argument(node, arguments, index);
    if (document_.kind(found) == PickleKind::kObject &&
        document_.is_global(document_.object(found).callable, "torch", "Size")) {
      found = argument(found, document_.elements(document_.object(found).arguments), 0);
    }
    if (document_.kind(found) != PickleKind::kTuple) {
      refuse(found, "damaged: its {} is {}", meaning, to_string(document_.kind(found)));
    }
    if (document_.num_elements(found) > limits_.max_rank) {
      refuse(found,
             "it has {} dimensions; at most {} are read",
             document_.num_elements(found),
             limits_.max_rank);
    }
    const std::vector<PickleIndex> elements = document_.elements(found);
    std::vector<std::int64_t> values;
    for (std::size_t k = 0; k < elements.size(); ++k) {
      values.push_back(count(found, elements, k, meaning));
    }
    return values;
  }

  std::variant<TorchTensor, std::string> plain(PickleIndex node,
                                               PickleIndex function,
                                               std::span<const PickleIndex> arguments) const {
    const PickleIndex storage = argument(node, arguments, 0, PickleKind::kPersistent);
    const PickleIndex identifier = document_.identifier(storage);
    if (document_.kind(identifier) != PickleKind::kTuple) {
      refuse(
          storage, "damaged: a storage is identified by {}", to_string(document_.kind(identifier)));
    }
    const std::vector<PickleIndex> fields = document_.elements(identifier);
    if (document_.text(argument(storage, fields, 0, PickleKind::kText)) != "storage" ||
        fields.size() != 5) {
      refuse(storage, "damaged: a storage has {} fields, or is none", fields.size());
    }
    TorchTensor tensor;
    tensor.storage = document_.text(argument(storage, fields, 2, PickleKind::kText));
    const auto extent =
        static_cast<std::uint64_t>(count(storage, fields, 4, "storage's number of elements"));

    const PickleIndex class_of_storage = argument(storage, fields, 1, PickleKind::kGlobal);
    const std::string type_name =
        is_v3(function) ? dotted(document_.text(argument(node, arguments, 6, PickleKind::kGlobal)))
                        : dotted(document_.text(class_of_storage));
    const std::string_view last = std::string_view(type_name).substr(type_name.rfind('.') + 1);
    const auto type = std::ranges::find_if(kTypes, [&](const NamedType& each) {
      return last == (is_v3(function) ? each.dtype : each.storage);
    });
    if (!type_name.starts_with("torch.") || last.empty() || type == kTypes.end()) {
      return fmt::format("its elements are {}", type_name);
    }
    tensor.type = type->type;
    const std::size_t metadata = is_v3(function) ? 7 : 6;
    if (metadata < arguments.size() && !is_empty(arguments[metadata])) {
      return "it is a conjugated or negated view";
    }

    tensor.layout.shape = counts(node, arguments, 2, "extent");
    tensor.layout.strides = counts(node, arguments, 3, "stride");
    tensor.layout.offset = static_cast<std::uint64_t>(count(node, arguments, 1, "offset"));
    const std::string text = dotted(document_.text(class_of_storage));
    const bool counts_bytes = text.ends_with(".UntypedStorage");
    const std::size_t size = size_of(tensor.type);
    if (!counts_bytes && extent > (std::uint64_t{1} << 60) / size) {
      refuse(storage, "its storage claims {} elements", extent);
    }
    tensor.storage_bytes = counts_bytes ? extent : extent * size;
    check_extent(node, tensor, tensor.storage_bytes / size);
    return tensor;
  }

  bool is_empty(PickleIndex metadata) const {
    const PickleKind kind = document_.kind(metadata);
    return kind == PickleKind::kNone ||
           (kind == PickleKind::kDict && document_.num_elements(metadata) == 0);
  }

  /// Allocates nothing, and no product can overflow.
  void check_extent(PickleIndex node, const TorchTensor& tensor, std::uint64_t num_stored) const {
    const StridedLayout& layout = tensor.layout;
    if (layout.shape.size() != layout.strides.size()) {
      refuse(node,
             "damaged: it has {} extents and {} strides",
             layout.shape.size(),
             layout.strides.size());
    }
    const std::string place =
        fmt::format("{} (at byte {} of the member)", where_, document_.offset(node));
    const std::size_t num_elements = checked_num_elements(place, layout.shape, limits_);
    if (num_elements == 0) return;
    bool is_inside = layout.offset < num_stored;
    std::uint64_t room = is_inside ? num_stored - 1 - layout.offset : 0;
    for (std::size_t k = 0; k < layout.shape.size() && is_inside; ++k) {
      const auto steps = static_cast<std::uint64_t>(layout.shape[k] - 1);
      const auto stride = static_cast<std::uint64_t>(layout.strides[k]);
      is_inside = stride == 0 || steps <= room / stride;
      if (is_inside) room -= steps * stride;
    }
    if (!is_inside) {
      refuse(
          node,
          "shape {} with strides {} from element {} on reaches beyond its storage of {} elements",
          shape_text(layout.shape),
          shape_text(layout.strides),
          layout.offset,
          num_stored);
    }
    // With strides of 0, one element appears many times.
    check_expansion(
        place, std::uint64_t{num_elements} * size_of(tensor.type), tensor.storage_bytes, limits_);
  }

  const ReadLimits& limits_;
};

}  // namespace

bool is_torch_tensor(const PickleDocument& document, PickleIndex node) {
  if (document.kind(node) != PickleKind::kObject) return false;
  const PickleIndex callable = document.object(node).callable;
  if (document.kind(callable) != PickleKind::kGlobal) return false;
  const std::string_view name = document.text(callable);
  return name.starts_with("torch._utils\n_rebuild_") ||
         name.starts_with("torch._tensor\n_rebuild_");
}

std::variant<TorchTensor, std::string> describe_torch_tensor(const std::string& where,
                                                             const PickleDocument& document,
                                                             PickleIndex node,
                                                             const ReadLimits& limits) {
  return Describer(where, document, limits).describe(node);
}

}  // namespace hesscope::io
