// SPDX-License-Identifier: BSD-3-Clause
//
// The elementwise functions by name, written once for all base scalars (doubles, lanes, 50 digits).
#pragma once

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/internal/kinked_functions.h>
#include <hesscope/autodiff/internal/power_functions.h>
#include <hesscope/autodiff/internal/smooth_functions.h>
#include <hesscope/autodiff/internal/trigonometric_functions.h>

namespace hesscope::detail {

/// Calls visit(function_object) for the named function.
template <typename Visitor>
void visit_elementary(Elementary function, double alpha, double beta, Visitor visit) {
  switch (function) {
    case Elementary::kAbs:
      return visit(AbsFunction{});
    case Elementary::kAcos:
      return visit(AcosFunction{});
    case Elementary::kAcosh:
      return visit(AcoshFunction{});
    case Elementary::kAsin:
      return visit(AsinFunction{});
    case Elementary::kAsinh:
      return visit(AsinhFunction{});
    case Elementary::kAtan:
      return visit(AtanFunction{});
    case Elementary::kAtanh:
      return visit(AtanhFunction{});
    case Elementary::kCeil:
      return visit(CeilFunction{});
    case Elementary::kClip:
      return visit(ClipFunction{alpha, beta});
    case Elementary::kCos:
      return visit(CosFunction{});
    case Elementary::kCosh:
      return visit(CoshFunction{});
    case Elementary::kElu:
      return visit(EluFunction{alpha, beta});
    case Elementary::kErf:
      return visit(ErfFunction{});
    case Elementary::kExp:
      return visit(ExpFunction{});
    case Elementary::kFloor:
      return visit(FloorFunction{});
    case Elementary::kGelu:
      return visit(GeluFunction{alpha});
    case Elementary::kLeakyRelu:
      return visit(LeakyReluFunction{alpha});
    case Elementary::kLog:
      return visit(LogFunction{});
    case Elementary::kPower:
      return visit(PowerFunction{alpha});
    case Elementary::kReciprocal:
      return visit(ReciprocalFunction{});
    case Elementary::kRelu:
      return visit(ReluFunction{});
    case Elementary::kRound:
      return visit(RoundFunction{});
    case Elementary::kSigmoid:
      return visit(SigmoidFunction{});
    case Elementary::kSign:
      return visit(SignFunction{});
    case Elementary::kSin:
      return visit(SinFunction{});
    case Elementary::kSinh:
      return visit(SinhFunction{});
    case Elementary::kSoftplus:
      return visit(SoftplusFunction{});
    case Elementary::kSoftsign:
      return visit(SoftsignFunction{});
    case Elementary::kSqrt:
      return visit(SqrtFunction{});
    case Elementary::kSquare:
      return visit(SquareFunction{});
    case Elementary::kTan:
      return visit(TanFunction{});
    case Elementary::kTanh:
      return visit(TanhFunction{});
  }
}

}  // namespace hesscope::detail
