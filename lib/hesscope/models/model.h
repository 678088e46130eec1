// SPDX-License-Identifier: BSD-3-Clause
//
// A model: named parameters, the arrays a sample consists of, and the loss of one sample as a
// graph.
//
//   ModelBuilder b("ridge");
//   Var w = b.parameter("weight", {3});                  // column of 3
//   Var x = b.array("inputs", {3});
//   Var y = b.array("target", {});
//   Model model = b.finish(square(matmul_tn(w, x) - y) + 0.01 * sum(square(w)));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/invariance.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/structured/structured_hessian.h>
#include <hesscope/structured/structured_loss.h>

namespace hesscope {

/// One array of a data set: (samples, shape...).
struct DataArray {
  enum class Content {
    kReal,         ///< numbers, taken as they are
    kClass,        ///< integers 0 <= c < num_classes(), each expanded to that many one-hot entries
    kSign,         ///< +1 or -1
    kInteger,      ///< whole numbers from `minimum` to `maximum`: indices, say
    kProbability,  ///< numbers from 0 to 1, taken as they are
  };

  std::string name;
  std::vector<std::int64_t> shape;  ///< of one sample; empty for a scalar
  Content content = Content::kReal;
  Eigen::Index offset = 0;   ///< first entry in a sample's record
  Eigen::Index width = 0;    ///< entries in the record
  std::int64_t minimum = 0;  ///< of kInteger
  std::int64_t maximum = 0;
  std::string reason = {};  ///< of these bounds, for messages; may be empty

  /// Numbers of a sample in the data set: the product of the shape.
  Eigen::Index num_values() const;

  /// Of kClass.
  Eigen::Index num_classes() const { return width / num_values(); }

  bool operator==(const DataArray&) const = default;
};

/// A file that a model was made of.
struct ModelFile {
  std::string path;
  std::string sha256;  ///< of the bytes that were read

  bool operator==(const ModelFile&) const = default;
};

/// A tensor that a checkpoint may hold and that is a constant of the graph, no parameter: running
/// statistics, a mask, what is frozen.
struct ModelBuffer {
  std::string name;
  std::vector<std::int64_t> shape;
  /// That the graph was built with, row-major; empty where it does not depend on them.
  std::vector<double> values;
  /// That hold for a checkpoint which lacks the tensor; empty where the kind alone knows.
  std::vector<double> values_if_absent = {};
};

/// A name that a checkpoint may have for a parameter besides its own.
struct ModelTie {
  std::string name;
  std::string to;  ///< the parameter, or another tensor of the model
  /// Whether the model computes with its transpose under this name; nothing where it does not
  /// compute with it.
  std::optional<bool> is_transposed = {};
};

struct Model {
  std::string kind;
  std::vector<ParameterBlock> parameters;  ///< in flat order
  std::vector<DataArray> arrays;           ///< in record order
  std::shared_ptr<const Graph> graph;
  /// A faster way to the graph's Hessian, where the model kind has one; otherwise null.
  std::shared_ptr<const StructuredHessian> structured_hessian;
  /// The same to the value and the gradient.
  std::shared_ptr<const StructuredLoss> structured_loss;
  /// Maps of the parameters that change no sample's loss, whatever the sample (invariances.h).
  std::vector<Invariance> invariances;
  /// Whether those are to be found by a search (invariance_search.h), since the kind knows none.
  bool searches_invariances = false;
  /// What a sample counts, of its record, where the loss is a mean with weights
  /// (Objective::sample_weight); empty where each counts 1.
  std::function<double(std::span<const double> record)> sample_weight;
  /// w of a term w/2 |theta|^2 that the objective adds to the graph's loss.
  double weight_decay = 0;
  /// With the checkpoint's values, or those of another file where the checkpoint has none.
  std::vector<ModelBuffer> buffers;
  /// Tensors that must be equal in a checkpoint which holds both.
  std::vector<ModelTie> ties;
  /// Whether its loss takes the predictions for logarithms of probabilities.
  bool predicts_log_probabilities = false;
  /// What the files of the model say of its parameters, flat; empty where they do not say all.
  Eigen::VectorXd own_parameters;
  /// Files besides checkpoint and data that the model was made of.
  std::vector<ModelFile> files;
  /// What whoever analyzes it should know.
  std::vector<std::string> remarks;

  Eigen::Index num_parameters() const;

  /// Numbers in a sample's record.
  Eigen::Index record_size() const;
};

/// Declares parameters and arrays one after the other and records the forward pass on them. Names
/// are UTF-8 text without control characters. Every member throws PreconditionError after finish(),
/// as do operations on its Vars, and of a builder that was moved from.
class ModelBuilder {
 public:
  /// Of parameters and of arrays per sample.
  static constexpr std::size_t kMaxRank = 8;

  /// @param kind  what messages call it: "the KIND model".
  explicit ModelBuilder(std::string kind);

  // A copy would record on the same graph.
  ModelBuilder(const ModelBuilder&) = delete;
  ModelBuilder& operator=(const ModelBuilder&) = delete;
  ModelBuilder(ModelBuilder&&) = default;
  ModelBuilder& operator=(ModelBuilder&&) = default;

  /// A parameter of rank 0 (1 x 1), 1 (a column), 2 or up to kMaxRank: a matrix with the last
  /// extent as its columns, and all others together as its rows. @throws PreconditionError for
  /// higher ranks, empty extents, and a name that is none or taken.
  Var parameter(const std::string& name, const std::vector<std::int64_t>& shape);

  /// A parameter of shape (count, rows, cols), as its `count` matrices.
  std::vector<Var> parameter_stack(const std::string& name,
                                   std::int64_t count,
                                   std::int64_t rows,
                                   std::int64_t cols);

  /// An array whose shape per sample makes a matrix as that of a parameter does. Asked for again,
  /// as an input that is a target too, it is the same.
  Var array(const std::string& name,
            const std::vector<std::int64_t>& shape,
            DataArray::Content content = DataArray::Content::kReal);

  /// An array holding one class index per sample, as a one-hot column of num_classes entries.
  Var one_hot(const std::string& name, std::int64_t num_classes);

  /// The same of an array of class indices of any shape per sample: a row of num_classes entries
  /// for each of them.
  Var one_hot(const std::string& name,
              const std::vector<std::int64_t>& shape,
              std::int64_t num_classes);

  /// An array of whole numbers from `minimum` to `maximum`, of any shape per sample; a message that
  /// refuses others says the reason, if one is given: "index of ...".
  Var integers(const std::string& name,
               const std::vector<std::int64_t>& shape,
               std::int64_t minimum,
               std::int64_t maximum,
               const std::string& reason = {});

  Var constant(const Eigen::Ref<const Eigen::MatrixXd>& value) { return graph().constant(value); }

  /// What is being recorded.
  Graph& graph();

  /// Declares what the model says of a sample, of which alone the loss will be a function. Gives
  /// the model a Gauss-Newton matrix; see Graph::set_prediction.
  void set_prediction(Var z) { graph().set_prediction(z); }

  /// Declares that the loss is a mean with weights, and what a sample counts in it, of the entries
  /// that its record has of a declared array. @throws PreconditionError if there is no such array.
  void set_sample_weight(const std::string& array,
                         std::function<double(std::span<const double> entries)> weight);

  /// The model with this loss of one sample (1 x 1). The builder is spent.
  /// @throws PreconditionError if the loss depends on a parameter other than through the declared
  /// prediction.
  Model finish(Var loss);

 private:
  Eigen::Index add_block(const std::string& name, const std::vector<std::int64_t>& shape);

  // Offset and width are filled in.
  DataArray& add_array(DataArray array, Eigen::Index width);

  Model model_;
  std::shared_ptr<Graph> graph_;  // null once the model is finished
};

}  // namespace hesscope
