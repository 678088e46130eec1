// SPDX-License-Identifier: BSD-3-Clause
//
// Libraries that err, for tests that must notice: preloaded into hesscope-mpi, these stand before
// the functions of ScaLAPACK and BLACS. HESSCOPE_MUTANT names the one that does wrong.
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the names do not matter here.

namespace {

bool is_mutant(const char* name) {
  const char* const chosen = std::getenv("HESSCOPE_MUTANT");
  return chosen != nullptr && std::strcmp(chosen, name) == 0;
}

// The function that this one stands before.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// "blacs": sums whose order is that in which messages come.
void Cblacs_set(int context, int what, int* value) {
  constexpr int kTopologiesRepeat = 15;
  int no = 0;
  const bool is_wrong = is_mutant("blacs") && what == kTopologiesRepeat;
  next<void(int, int, int*)>("Cblacs_set")(context, what, is_wrong ? &no : value);
}

// "reduction": an entry of T on each process is another one.
void pdsytrd_(const char* uplo,
              const int* n,
              double* a,
              const int* ia,
              const int* ja,
              const int* desc_a,
              double* d,
              double* e,
              double* tau,
              double* work,
              const int* lwork,
              int* info) {
  next<decltype(pdsytrd_)>("pdsytrd_")(uplo, n, a, ia, ja, desc_a, d, e, tau, work, lwork, info);
  if (is_mutant("reduction") && *lwork >= 0) a[0] *= 1.001;
}

// "vectors": an entry of the eigenvectors of T on each process is another one.
void pdstedc_(const char* compz,
              const int* n,
              double* d,
              double* e,
              double* q,
              const int* iq,
              const int* jq,
              const int* desc_q,
              double* work,
              const int* lwork,
              int* iwork,
              const int* liwork,
              int* info) {
  next<decltype(pdstedc_)>("pdstedc_")(
      compz, n, d, e, q, iq, jq, desc_q, work, lwork, iwork, liwork, info);
  if (is_mutant("vectors") && *lwork >= 0) q[0] += 1e-9;
}

// "triangle": what ELPA should have above the diagonal stays empty.
void pdtran_(const int* m,
             const int* n,
             const double* alpha,
             const double* a,
             const int* ia,
             const int* ja,
             const int* desc_a,
             const double* beta,
             double* c,
             const int* ic,
             const int* jc,
             const int* desc_c) {
  if (is_mutant("triangle")) return;
  next<decltype(pdtran_)>("pdtran_")(m, n, alpha, a, ia, ja, desc_a, beta, c, ic, jc, desc_c);
}
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
