// SPDX-License-Identifier: BSD-3-Clause
//
// A model: named parameters, the arrays that make up a sample, and the loss of one sample as a
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
    kReal,         ///< numbers, used unchanged
    kClass,        ///< integers 0 <= c < num_classes(), each expanded to that many one-hot entries
    kSign,         ///< +1 or -1
    kInteger,      ///< whole numbers from `minimum` to `maximum`, such as indices
    kProbability,  ///< numbers from 0 to 1, used unchanged
  };

  std::string name;
  std::vector<std::int64_t> shape;  ///< of one sample; empty for a scalar
  Content content = Content::kReal;
  Eigen::Index offset = 0;   ///< first entry in a sample's record
  Eigen::Index width = 0;    ///< entries in the record
  std::int64_t minimum = 0;  ///< of kInteger
  std::int64_t maximum = 0;
  std::string reason = {};  ///< for these bounds, for messages; may be empty

  /// Numbers per sample in the data set: the product of the shape.
  Eigen::Index num_values() const;

  /// For kClass.
  Eigen::Index num_classes() const { return width / num_values(); }

  bool operator==(const DataArray&) const = default;
};

/// A file that a model was made from.
struct ModelFile {
  std::string path;
  std::string sha256;  ///< of the bytes that were read

  bool operator==(const ModelFile&) const = default;
};

/// A tensor that a checkpoint may hold but that is a constant of the graph rather than a parameter:
/// running statistics, a mask, anything frozen.
struct ModelBuffer {
  std::string name;
  std::vector<std::int64_t> shape;
  /// The values that the graph was built with, row-major; empty if the graph does not depend on
  /// them.
  std::vector<double> values;
  /// The values to use if a checkpoint lacks the tensor; empty if only the model kind knows them.
  std::vector<double> values_if_absent = {};
  bool is_frozen = false;  ///< by the problem file: an optimiser may have it as a parameter
};

/// Another name that a checkpoint may use for a parameter.
struct ModelTie {
  std::string name;
  std::string to;  ///< the parameter, or another tensor of the model
  /// Whether the model uses its transpose under this name; nothing if the model does not use it.
  std::optional<bool> is_transposed = {};
};

struct Model {
  std::string kind;
  std::vector<ParameterBlock> parameters;  ///< in flat order
  std::vector<DataArray> arrays;           ///< in record order
  std::shared_ptr<const Graph> graph;
  /// A faster computation of the graph's Hessian, if the model kind has one; otherwise null.
  std::shared_ptr<const StructuredHessian> structured_hessian;
  /// The same for the value and the gradient.
  std::shared_ptr<const StructuredLoss> structured_loss;
  /// Maps of the parameters that change the loss of no sample (invariances.h).
  std::vector<Invariance> invariances;
  /// Whether the invariances must be found by a search (invariance_search.h), since the kind knows
  /// none.
  bool searches_invariances = false;
  /// The weight of a sample as a function of its record, if the loss is a weighted mean
  /// (Objective::sample_weight); empty if each has weight 1.
  std::function<double(std::span<const double> record)> sample_weight;
  /// w of a term w/2 |theta|^2 that the objective adds to the graph's loss.
  double weight_decay = 0;
  /// With values from the checkpoint, or from another file if the checkpoint lacks them.
  std::vector<ModelBuffer> buffers;
  /// Tensors that must be equal in a checkpoint that holds both.
  std::vector<ModelTie> ties;
  /// Whether the loss takes the predictions for logarithms of probabilities.
  bool predicts_log_probabilities = false;
  /// The parameters stated in the model's own files, flat; empty unless all of them are.
  Eigen::VectorXd own_parameters;
  /// Files other than checkpoint and data from which the model was made.
  std::vector<ModelFile> files;
  /// What anyone who analyzes the model should know.
  std::vector<std::string> remarks;

  Eigen::Index num_parameters() const;

  /// Numbers in a sample's record.
  Eigen::Index record_size() const;
};

/// Declares parameters and arrays one after the other and records the forward pass on them. Names
/// are UTF-8 text without control characters. After finish(), and for a builder that has been moved
/// from, every member throws PreconditionError, as do operations on its Vars.
class ModelBuilder {
 public:
  /// For parameters, and for arrays per sample.
  static constexpr std::size_t kMaxRank = 8;

  /// @param kind  how messages refer to the model: "the KIND model".
  explicit ModelBuilder(std::string kind);

  // A copy would record on the same graph.
  ModelBuilder(const ModelBuilder&) = delete;
  ModelBuilder& operator=(const ModelBuilder&) = delete;
  ModelBuilder(ModelBuilder&&) = default;
  ModelBuilder& operator=(ModelBuilder&&) = default;

  /// A parameter of rank 0 (1 x 1), 1 (a column), 2 or up to kMaxRank: a matrix whose columns are
  /// the last extent and whose rows are all others together. @throws PreconditionError for higher
  /// ranks, empty extents, and a name that is invalid or already used.
  Var parameter(const std::string& name, const std::vector<std::int64_t>& shape);

  /// A parameter of shape (count, rows, cols), as its `count` matrices.
  std::vector<Var> parameter_stack(const std::string& name,
                                   std::int64_t count,
                                   std::int64_t rows,
                                   std::int64_t cols);

  /// An array whose shape per sample is turned into a matrix like that of a parameter. Declaring it
  /// again, as for an input that is also a target, returns the same.
  Var array(const std::string& name,
            const std::vector<std::int64_t>& shape,
            DataArray::Content content = DataArray::Content::kReal);

  /// An array with one class index per sample, as a one-hot column of num_classes entries.
  Var one_hot(const std::string& name, std::int64_t num_classes);

  /// The same for an array of class indices with any shape per sample: a row of num_classes entries
  /// for each index.
  Var one_hot(const std::string& name,
              const std::vector<std::int64_t>& shape,
              std::int64_t num_classes);

  /// An array of whole numbers from `minimum` to `maximum`, of any shape per sample. Messages that
  /// refuse other numbers give the reason, if it is not empty: "index of ...".
  Var integers(const std::string& name,
               const std::vector<std::int64_t>& shape,
               std::int64_t minimum,
               std::int64_t maximum,
               const std::string& reason = {});

  Var constant(const Eigen::Ref<const Eigen::MatrixXd>& value) { return graph().constant(value); }

  /// The graph being recorded.
  Graph& graph();

  /// Declares the model's prediction for a sample; the loss must depend on the parameters only
  /// through it. Gives the model a Gauss-Newton matrix; see Graph::set_prediction.
  void set_prediction(Var z) { graph().set_prediction(z); }

  /// Declares that the loss is a weighted mean; `weight` computes a sample's weight from the
  /// entries of a declared array in its record. @throws PreconditionError if there is no such
  /// array.
  void set_sample_weight(const std::string& array,
                         std::function<double(std::span<const double> entries)> weight);

  /// The model with this loss of one sample (1 x 1). The builder cannot be used afterwards.
  /// @throws PreconditionError if the loss depends on a parameter other than through the declared
  ///         prediction.
  Model finish(Var loss);

 private:
  Eigen::Index add_block(const std::string& name, const std::vector<std::int64_t>& shape);

  // Offset and width are filled in.
  DataArray& add_array(DataArray array, Eigen::Index width);

  Model model_;
  std::shared_ptr<Graph> graph_;  // null once the model is finished
};

}  // namespace hesscope
