// SPDX-License-Identifier: BSD-3-Clause
//
// The papers and books that define the quantities, as Variable::references names them. Each occurs
// once, and none contains "; ".
#pragma once

namespace hesscope::papers {

inline constexpr char kAhn[] =
    "K. Ahn et al. (2023), Linear attention is (maybe) all you need (to understand transformer "
    "optimization), arXiv:2310.01082";
inline constexpr char kAnderson[] =
    "E. Anderson et al. (1999), LAPACK Users' Guide, SIAM, section 4.7";
inline constexpr char kAinsworth[] =
    "S. Ainsworth et al. (2022), Git re-basin: merging models modulo permutation symmetries, "
    "arXiv:2209.04836";
inline constexpr char kAndreyev[] =
    "A. Andreyev & P. Beneventano (2024), Edge of stochastic stability: revisiting the edge of "
    "stability for SGD, arXiv:2412.20553";
inline constexpr char kBalles[] =
    "L. Balles et al. (2020), The geometry of sign gradient descent, arXiv:2002.08056";
inline constexpr char kBell[] =
    "R. J. Bell & P. Dean (1970), Atomic vibrations in vitreous silica, Discussions of the Faraday "
    "Society 50, 55-61";
inline constexpr char kBernstein[] =
    "J. Bernstein & L. Newhouse (2024), Old optimizer, new norm: an anthology, arXiv:2409.20325";
inline constexpr char kBhattacharjee[] =
    "R. Bhattacharjee et al. (2025), Improved spectral density estimation via explicit and "
    "implicit "
    "deflation, SODA";
inline constexpr char kBjorck[] =
    "A. Bjorck & G. H. Golub (1973), Numerical methods for computing angles between linear "
    "subspaces, Mathematics of Computation 27, 579-594";
inline constexpr char kBoettcher[] =
    "A. Boettcher & D. Wenzel (2008), The Frobenius norm and the commutator, Linear Algebra and "
    "its "
    "Applications 429, 1864-1885";
inline constexpr char kBusing[] =
    "F. Busing et al. (1999), Delete-m jackknife for unequal m, Statistics and Computing 9, 3-8";
inline constexpr char kCao[] =
    "Z.-H. Cao, J.-J. Xie & R.-C. Li (1996), A sharp version of Kahan's theorem on clustered "
    "eigenvalues, Linear Algebra and its Applications 245, 147-155";
inline constexpr char kChenBruna[] =
    "L. Chen & J. Bruna (2023), Beyond the edge of stability via two-step gradient updates, "
    "arXiv:2206.04172";
inline constexpr char kCohen2021[] =
    "J. Cohen et al. (2021), Gradient descent on neural networks typically occurs at the edge of "
    "stability, arXiv:2103.00065";
inline constexpr char kCohen2022[] =
    "J. Cohen et al. (2022), Adaptive gradient methods at the edge of stability, arXiv:2207.14484";
inline constexpr char kCohen2024[] =
    "J. Cohen et al. (2024), Understanding optimization in deep learning with central flows, "
    "arXiv:2410.24206";
inline constexpr char kCrawshaw[] =
    "M. Crawshaw et al. (2022), Robustness to unbounded smoothness of generalized signSGD, "
    "arXiv:2208.11195";
inline constexpr char kDamian[] =
    "A. Damian et al. (2023), Self-stabilization: the implicit bias of gradient descent at the "
    "edge "
    "of stability, arXiv:2209.15594";
inline constexpr char kDauphin[] =
    "Y. Dauphin et al. (2014), Identifying and attacking the saddle point problem in "
    "high-dimensional non-convex optimization, arXiv:1406.2572";
inline constexpr char kDraxler[] =
    "F. Draxler et al. (2018), Essentially no barriers in neural network energy landscape, "
    "arXiv:1803.00885";
inline constexpr char kEfron[] =
    "B. Efron & R. Tibshirani (1993), An introduction to the bootstrap, Chapman & Hall, section "
    "13.3";
inline constexpr char kEndres[] =
    "D. M. Endres & J. E. Schindelin (2003), A new metric for probability distributions, IEEE "
    "Transactions on Information Theory 49, 1858-1860";
inline constexpr char kEntezari[] =
    "R. Entezari et al. (2021), The role of permutation invariance in linear mode connectivity of "
    "neural networks, arXiv:2110.06296";
inline constexpr char kFilliben[] =
    "J. J. Filliben (1975), The probability plot correlation coefficient test for normality, "
    "Technometrics 17, 111-117";
inline constexpr char kFrankle[] =
    "J. Frankle et al. (2020), Linear mode connectivity and the lottery ticket hypothesis, "
    "arXiv:1912.05671";
inline constexpr char kGaripov[] =
    "T. Garipov et al. (2018), Loss surfaces, mode connectivity, and fast ensembling of DNNs, "
    "arXiv:1802.10026";
inline constexpr char kGhorbani[] =
    "B. Ghorbani et al. (2019), An investigation into neural net optimization via Hessian "
    "eigenvalue "
    "density, arXiv:1901.10159";
inline constexpr char kGolub[] =
    "G. H. Golub & G. Meurant (1994), Matrices, moments and quadrature, Numerical Analysis 1993, "
    "Longman, 105-156";
inline constexpr char kGurAri[] =
    "G. Gur-Ari et al. (2018), Gradient descent happens in a tiny subspace, arXiv:1812.04754";
inline constexpr char kHenkelman[] =
    "G. Henkelman et al. (2000), A climbing image nudged elastic band method for finding saddle "
    "points and minimum energy paths, Journal of Chemical Physics 113, 9901-9904";
inline constexpr char kHenkelmanTangent[] =
    "G. Henkelman & H. Jonsson (2000), Improved tangent estimate in the nudged elastic band method "
    "for finding minimum energy paths and saddle points, Journal of Chemical Physics 113, "
    "9978-9985";
inline constexpr char kHesterberg[] =
    "T. Hesterberg (2015), What teachers should know about the bootstrap, The American "
    "Statistician "
    "69, 371-386";
inline constexpr char kHill[] =
    "B. M. Hill (1975), A simple general approach to inference about the tail of a distribution, "
    "Annals of Statistics 3, 1163-1174";
inline constexpr char kJacot[] =
    "A. Jacot et al. (2018), Neural tangent kernel: convergence and generalization in neural "
    "networks, arXiv:1806.07572";
inline constexpr char kJiang[] =
    "K. Jiang et al. (2022), How does adaptive optimization impact local neural network geometry?, "
    "arXiv:2211.02254";
inline constexpr char kJoanes[] =
    "D. N. Joanes & C. A. Gill (1998), Comparing measures of sample skewness and kurtosis, The "
    "Statistician 47, 183-189";
inline constexpr char kJonsson[] =
    "H. Jonsson et al. (1998), Nudged elastic band method for finding minimum energy paths of "
    "transitions, World Scientific, 385-404";
inline constexpr char kKato[] =
    "T. Kato (1995), Perturbation theory for linear operators, Springer, chapter II";
inline constexpr char kKingma[] =
    "D. P. Kingma & J. Ba (2015), Adam: a method for stochastic optimization, arXiv:1412.6980";
inline constexpr char kKoh[] =
    "P. W. Koh & P. Liang (2017), Understanding black-box predictions via influence functions, "
    "arXiv:1703.04730";
inline constexpr char kKuhn[] =
    "H. W. Kuhn (1955), The Hungarian method for the assignment problem, Naval Research Logistics "
    "Quarterly 2, 83-97";
inline constexpr char kKuznetsov[] =
    "Y. A. Kuznetsov (2004), Elements of applied bifurcation theory, 3rd ed., Springer, section "
    "4.5";
inline constexpr char kKunstner[] =
    "F. Kunstner et al. (2023), Noise is not the main factor behind the gap between SGD and Adam "
    "on "
    "transformers, but sign descent might be, arXiv:2304.13960";
inline constexpr char kLi2018[] =
    "H. Li et al. (2018), Visualizing the loss landscape of neural nets, arXiv:1712.09913";
inline constexpr char kLi2025[] =
    "B. Li et al. (2025), On the optimization and generalization of two-layer transformers with "
    "sign "
    "gradient descent, arXiv:2410.04870";
inline constexpr char kLin[] =
    "L. Lin et al. (2016), Approximating spectral densities of large matrices, SIAM Review 58, "
    "34-65";
inline constexpr char kMagnus[] =
    "J. R. Magnus (1985), On differentiating eigenvalues and eigenvectors, Econometric Theory 1, "
    "179-191";
inline constexpr char kMarquardt[] =
    "D. W. Marquardt (1963), An algorithm for least-squares estimation of nonlinear parameters, "
    "Journal of the Society for Industrial and Applied Mathematics 11, 431-441";
inline constexpr char kMcCandlish[] =
    "S. McCandlish et al. (2018), An empirical model of large-batch training, arXiv:1812.06162";
inline constexpr char kNesterov[] =
    "Y. Nesterov (1998), Semidefinite relaxation and nonconvex quadratic optimization, "
    "Optimization Methods and Software 9, 141-160";
inline constexpr char kOrmaniec[] =
    "W. Ormaniec et al. (2025), What does it mean to be a transformer? Insights from a theoretical "
    "Hessian analysis, arXiv:2410.10986";
inline constexpr char kPan[] =
    "Y. Pan & Y. Li (2023), Toward understanding why Adam converges faster than SGD for "
    "transformers, arXiv:2306.00204";
inline constexpr char kParlett[] =
    "B. N. Parlett (1998), The symmetric eigenvalue problem, SIAM, chapter 3";
inline constexpr char kPregibon[] =
    "D. Pregibon (1981), Logistic regression diagnostics, Annals of Statistics 9, 705-724";
inline constexpr char kSchraudolph[] =
    "N. N. Schraudolph (2002), Fast curvature matrix-vector products for second-order gradient "
    "descent, Neural Computation 14, 1723-1738";
inline constexpr char kSong[] =
    "B. Song et al. (2024), Unraveling the gradient descent dynamics of transformers, "
    "arXiv:2411.07538";
inline constexpr char kTakeuchi[] =
    "K. Takeuchi (1976), Distribution of informational statistics and a criterion of model "
    "fitting, Suri-Kagaku 153, 12-18";
inline constexpr char kUbaru[] =
    "S. Ubaru et al. (2017), Fast estimation of tr(f(A)) via stochastic Lanczos quadrature, SIAM "
    "Journal on Matrix Analysis and Applications 38, 1075-1099";
inline constexpr char kVallender[] =
    "S. S. Vallender (1974), Calculation of the Wasserstein distance between probability "
    "distributions on the line, Theory of Probability and its Applications 18, 784-786";
inline constexpr char kXie[] =
    "S. Xie & Z. Li (2024), Implicit bias of AdamW: l_inf norm constrained optimization, "
    "arXiv:2404.04454";
inline constexpr char kZhangJ[] =
    "J. Zhang et al. (2020), Why gradient clipping accelerates training: a theoretical "
    "justification "
    "for adaptivity, arXiv:1905.11881";
inline constexpr char kZhangY[] =
    "Y. Zhang et al. (2024), Why transformers need Adam: a Hessian perspective, arXiv:2402.16788";

}  // namespace hesscope::papers
