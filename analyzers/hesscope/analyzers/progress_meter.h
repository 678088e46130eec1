// SPDX-License-Identifier: BSD-3-Clause
//
// Progress of work that consists of parts, weighted by their expected costs.
#pragma once

#include <list>

#include <hesscope/core/progress.h>

namespace hesscope {

/// Parts may begin and end in any order, also within each other; each advances the whole by its own
/// cost. The fraction of the whole never decreases, whatever costs were expected. Not safe for
/// concurrent use.
class ProgressMeter {
  struct OpenPart {
    double cost;
    double fraction;
  };

 public:
  /// Begins when it is made and ends when it is destroyed.
  class Part {
   public:
    Part(ProgressMeter& meter, double cost);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    /// To be called while the part lives; empty if nobody asks for the progress of the whole.
    const ProgressCallback& progress() const { return progress_; }

   private:
    ProgressMeter* meter_;
    std::list<OpenPart>::iterator self_;
    ProgressCallback progress_;
  };

  /// @param total  the cost of all parts, in the unit of theirs; at least 0.
  ProgressMeter(ProgressCallback whole, double total);
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

 private:
  bool show();

  ProgressCallback whole_;
  double total_;
  double done_ = 0;   // of parts that ended
  double shown_ = 0;  // fraction
  std::list<OpenPart> open_;
};

}  // namespace hesscope
