// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/paths/elastic_band.h>
#include <hesscope/paths/internal/path_quantities.h>
#include <hesscope/paths/path.h>

namespace hesscope::detail {
namespace {

const std::vector<Status> kWithoutPass = {Status::kUndefinedNoPass};

std::vector<std::string> pass_outcomes() {
  std::vector<std::string> outcomes(std::begin(kCriticalPointOutcomes),
                                    std::end(kCriticalPointOutcomes));
  outcomes.insert(outcomes.end(), {"no_pass", "not_searched", "elsewhere"});
  return outcomes;
}

}  // namespace

Variable place_quantity() {
  return {.name = kPlace,
          .dimensions = {kPlace},
          .long_name = "place on the straight paths",
          .definition = "t in (1 - t) first + t second, evenly spaced from 0 to 1"};
}

std::vector<Variable> alignment_quantities() {
  return {
      {.name = "distance",
       .long_name = "distance of the aligned checkpoints",
       .definition = "|first - aligned_parameters|",
       .headline = 4},
      {.name = "unaligned_distance",
       .long_name = "distance of the checkpoints as they are",
       .definition = "|first - second|",
       .headline = 5},
      {.name = "num_moved",
       .type = VariableType::kInt64,
       .long_name = "number of units that have changed places",
       .definition = "over all families of interchangeable units, whose tensors the attribute "
                     "aligned_by names"},
      {.name = "num_flipped",
       .type = VariableType::kInt64,
       .long_name = "number of units that have changed their sign",
       .definition = "over families with a sign, such as those around an odd activation"},
      {.name = "alignment_error",
       .long_name = "change of the loss by the alignment",
       .definition = "|loss(aligned_parameters) - loss(second)| / max(|loss(second)|, |loss((first "
                     "+ second) / 2)|, 1e-300), with the first checkpoint's buffers; above 1e-8 "
                     "the alignment has failed, and the second checkpoint is taken unaligned, as "
                     "also where loss(second) is not finite"},
      {.name = "aligned_parameters",
       .dimensions = {"parameter"},
       .long_name = "parameters of the second checkpoint, aligned with the first",
       .definition = "m(second) for the m that minimizes |first - m(second)| over permutations of "
                     "interchangeable units, their signs, and flows of continuous invariances: a "
                     "local minimum, found by alternating optimal assignments and Newton steps",
       .references = {papers::kEntezari, papers::kAinsworth}}};
}

std::vector<Variable> straight_quantities() {
  const auto barrier = [](const char* name, const char* whose, int headline) -> Variable {
    return {.name = name,
            .long_name = std::string("barrier on the straight path to ") + whose,
            .definition =
                "maximum over t in [0, 1] of loss(t) - ((1 - t) loss(0) + t loss(1)): the highest "
                "of the places and of the maxima between them, which are found to rounding from "
                "where the exact slope changes its sign; a maximum between two places that neither "
                "losses nor slopes reveal is missed",
            .references = {papers::kFrankle},
            .headline = headline};
  };
  return {
      {.name = "straight_loss",
       .dimensions = {kPlace},
       .long_name = "loss on the straight path to the aligned checkpoint",
       .definition = "at (1 - t) first + t aligned_parameters"},
      {.name = "unaligned_loss",
       .dimensions = {kPlace},
       .long_name = "loss on the straight path to the checkpoint as it is",
       .definition = "at (1 - t) first + t second; not_computed where nothing is aligned"},
      barrier("straight_barrier", "the aligned checkpoint", 2),
      {.name = "straight_barrier_place",
       .long_name = "where the straight path's barrier is highest",
       .definition = "the t of straight_barrier"},
      barrier("unaligned_barrier", "the checkpoint as it is", 3),
      {.name = "unaligned_barrier_place",
       .long_name = "where the barrier of the straight path to the checkpoint as it is is highest",
       .definition = "the t of unaligned_barrier"}};
}

std::vector<Variable> band_quantities() {
  return {{.name = "length",
           .long_name = "length of the band",
           .definition = "sum of the distances between neighbouring images"},
          {.name = "band_barrier",
           .long_name = "barrier of the band",
           .definition = "largest loss of an image - loss of the higher end; it approaches "
                         "barrier, from either side, as `tolerance` goes to 0, and stands in for "
                         "it where the search for the pass has failed",
           .references = {papers::kDraxler}},
          {.name = "band_outcome",
           .type = VariableType::kInt8,
           .long_name = "how the band ended",
           .definition = "moving: it ran out of steps before it was at rest; its numbers are those "
                         "of the path reached by then",
           .flag_meanings = {std::begin(kBandOutcomes), std::end(kBandOutcomes)},
           .headline = 8},
          {.name = "band_steps",
           .type = VariableType::kInt64,
           .long_name = "number of steps of the band",
           .definition = "each takes a gradient at every image between the ends"},
          {.name = "band_force",
           .long_name = "largest force across the band at its end",
           .definition = "largest |g - (g . tau) tau| of an image, plus the springs' pull across "
                         "the band where it has a kink, and |-g + 2 (g . tau) tau| for the "
                         "climbing image, over that of the straight path, with tau as for force; "
                         "at most `tolerance` at rest; 0 where the ends coincide",
           .references = {papers::kJonsson, papers::kHenkelmanTangent}}};
}

std::vector<Variable> image_quantities(bool has_spectrum, bool is_assembled) {
  std::vector<Variable> all = {
      {.name = "arc_length",
       .dimensions = {kImage},
       .long_name = "distance along the band",
       .definition = "from the first end, along the straight pieces between images"},
      {.name = "loss",
       .dimensions = {kImage},
       .long_name = "loss on the minimum-energy path",
       .definition = "at the images of an elastic band with exact gradients, from the first "
                     "checkpoint to the aligned second one",
       .references = {papers::kJonsson, papers::kDraxler, papers::kGaripov}},
      {.name = "gradient_norm",
       .dimensions = {kImage},
       .long_name = "gradient norm on the minimum-energy path",
       .definition = "Euclidean norm of the gradient at an image"},
      {.name = "force",
       .dimensions = {kImage},
       .long_name = "gradient across the path",
       .definition = "|g - (g . tau) tau|, where tau is the unit tangent: along the piece to the "
                     "higher neighbour, a weighted mean of both pieces where the loss has an "
                     "extremum, and along the only piece at the ends; 0 on a minimum-energy path",
       .references = {papers::kHenkelmanTangent}},
      {.name = "tangent_curvature",
       .dimensions = {kImage},
       .long_name = "curvature along the path",
       .definition = "tau^T H tau, with tau as for force",
       .references = {papers::kHenkelmanTangent}}};
  if (has_spectrum) {
    all.push_back({.name = "lambda_min",
                   .dimensions = {kImage},
                   .long_name = "smallest eigenvalue on the path",
                   .definition = "of the exact Hessian at an image"});
    all.push_back({.name = "lambda_max",
                   .dimensions = {kImage},
                   .long_name = "sharpness on the path",
                   .definition = "largest eigenvalue of the exact Hessian at an image"});
    all.push_back({.name = "num_negative",
                   .type = VariableType::kInt64,
                   .dimensions = {kImage},
                   .long_name = "number of negative eigenvalues on the path",
                   .definition = "as /spectrum/num_negative, at an image"});
    all.push_back({.name = "num_zero",
                   .type = VariableType::kInt64,
                   .dimensions = {kImage},
                   .long_name = "number of zero eigenvalues on the path",
                   .definition = "as /spectrum/num_zero, at an image"});
    if (is_assembled) {
      all.push_back({.name = "eigenvalues",
                     .dimensions = {kImage, kRank},
                     .long_name = "eigenvalues of the Hessian on the path",
                     .definition = "in ascending order, at an image"});
    }
  }
  all.push_back({.name = "parameters",
                 .dimensions = {kImage, "parameter"},
                 .long_name = "parameters of the images",
                 .definition = "the minimum-energy path itself"});
  return all;
}

std::vector<Variable> saddle_quantities() {
  return {
      {.name = "barrier",
       .long_name = "barrier on the minimum-energy path",
       .definition =
           "max(0, saddle_loss - loss of the higher end), exact to rounding where saddle_index is "
           "1; 0 where no place on the band is higher than both ends by more than rounding",
       .references = {papers::kHenkelman, papers::kDraxler},
       .headline = 1},
      {.name = "saddle_index",
       .type = VariableType::kInt64,
       .long_name = "index of the pass",
       .definition =
           "number of negative eigenvalues of its Hessian outside the explained null space, by "
           "LDL^T and by Sturm counts, which agree; 1 at a pass; undefined_no_pass, like all "
           "numbers of the pass, where saddle_outcome is no_pass",
       .references = {papers::kHenkelman},
       .undefined = kWithoutPass,
       .headline = 6},
      {.name = "saddle_loss",
       .long_name = "loss at the pass",
       .definition = "at saddle_parameters",
       .undefined = kWithoutPass,
       .headline = 7},
      {.name = "barrier_from_first",
       .long_name = "how far the pass is above the first checkpoint",
       .definition = "saddle_loss - loss of the first image",
       .undefined = kWithoutPass},
      {.name = "barrier_from_second",
       .long_name = "how far the pass is above the second checkpoint",
       .definition = "saddle_loss - loss of the last image",
       .undefined = kWithoutPass},
      {.name = "saddle_lambda_min",
       .long_name = "smallest eigenvalue at the pass",
       .definition = "of its Hessian outside the explained null space, by counts: minus the rate "
                     "at which gradient flow leaves the pass",
       .references = {papers::kParlett},
       .undefined = kWithoutPass},
      {.name = "saddle_num_zero",
       .type = VariableType::kInt64,
       .long_name = "number of zero eigenvalues at the pass that nothing explains",
       .definition = "as /critical/num_zero, at the pass",
       .undefined = kWithoutPass},
      {.name = "saddle_num_explained",
       .type = VariableType::kInt64,
       .long_name = "number of explained zero eigenvalues at the pass",
       .definition = "as /critical/num_explained, at the pass",
       .undefined = kWithoutPass},
      {.name = "saddle_gradient",
       .long_name = "gradient where the search for the pass ended",
       .definition = "|g| there / max(mean |g_i|, ||H||_F |theta|) where it began, with g_i the "
                     "gradient of sample i",
       .references = {papers::kMarquardt},
       .undefined = kWithoutPass},
      {.name = "saddle_distance",
       .long_name = "distance of the pass from the band",
       .definition = "|saddle_parameters - parameters of the place at saddle_arc_length|",
       .undefined = kWithoutPass},
      {.name = "saddle_arc_length",
       .long_name = "where on the band the pass is",
       .definition = "arc length of the place where the search began: the highest on the images "
                     "and the straight pieces between them, as far as losses and exact slopes at "
                     "the images tell, or a lower maximum if that leads to a higher pass",
       .references = {papers::kHenkelman},
       .undefined = kWithoutPass},
      {.name = "saddle_outcome",
       .type = VariableType::kInt8,
       .long_name = "how the search for the pass ended",
       .definition =
           "as /critical/outcome, from the place at saddle_arc_length; no_pass: no place on the "
           "band is higher than both ends by more than rounding, 1e-14 (|loss| + |loss of the "
           "end|); not_searched: the Hessian is too large, or the band is not finite; elsewhere: "
           "the critical point is further from there than the images on both sides are, so that it "
           "is not on this path, and barrier has failed",
       .flag_meanings = pass_outcomes()},
      {.name = "saddle_parameters",
       .dimensions = {"parameter"},
       .long_name = "parameters of the pass",
       .definition = "where Newton's method, as for /critical/parameters, led from the place at "
                     "saddle_arc_length",
       .references = {papers::kMarquardt},
       .undefined = kWithoutPass}};
}

std::vector<Variable> scalar_quantities() {
  std::vector<Variable> all;
  for (auto&& some :
       {saddle_quantities(), straight_quantities(), alignment_quantities(), band_quantities()}) {
    std::ranges::copy_if(some, std::back_inserter(all), [](const Variable& each) {
      return each.dimensions.empty();
    });
  }
  return all;
}

}  // namespace hesscope::detail

namespace hesscope {

Group path_quantities() {
  Group all{.name = io::kPathGroup};
  const auto add = [&all](std::vector<Variable> variables) {
    for (Variable& variable : variables) all.add(std::move(variable));
  };
  add({detail::place_quantity()});
  add(detail::image_quantities(true, true));
  add(detail::straight_quantities());
  add(detail::saddle_quantities());
  add(detail::alignment_quantities());
  add(detail::band_quantities());
  return all;
}

}  // namespace hesscope
