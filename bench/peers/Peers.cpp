#include "bench/peers/Peers.h"

#include <cblas.h>
#include <dlfcn.h>
#include <dnnl.hpp>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>

extern "C" void openblas_set_num_threads(int count);

namespace plim::bench {

using runtime::ElementType;

void prepareForPeers(char **argv) {
  constexpr const char *isPrepared = "PLIM_PEERS_ARE_PREPARED";
  if (std::getenv(isPrepared))
    return;
  setenv(isPrepared, "1", 1);
  // Releases of OpenBLAS before a processor do not know it, and take it for one without AVX-512.
  if (__builtin_cpu_supports("avx512f"))
    setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);
  // Threads that wait for work by turning in a loop would have it at the cost of whose turn it is.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
  execv("/proc/self/exe", argv);
}

namespace {

/// oneDNN's threads are OpenMP's.
void setThreadsOfOpenMP(int threads) {
  static const auto set =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set)
    set(threads);
}

std::optional<Peer> openblas(const Product &product, int threads, const void *a, const void *b,
                             void *c) {
  const auto [batch, m, n, k, transposeA, transposeB, input, result] = product;
  if (input != result || (input != ElementType::F32 && input != ElementType::F64))
    return std::nullopt;
  auto run = [=]<typename T>(T) {
    const auto opA = transposeA ? CblasTrans : CblasNoTrans,
               opB = transposeB ? CblasTrans : CblasNoTrans;
    const auto strideA = static_cast<int>(transposeA ? m : k),
               strideB = static_cast<int>(transposeB ? k : n);
    const auto rows = static_cast<int>(m), columns = static_cast<int>(n),
               depth = static_cast<int>(k);
    openblas_set_num_threads(threads);
    for (int64_t i = 0; i < batch; ++i) {
      const T *left = static_cast<const T *>(a) + i * m * k,
              *right = static_cast<const T *>(b) + i * k * n;
      T *out = static_cast<T *>(c) + i * m * n;
      if constexpr (std::is_same_v<T, float>)
        cblas_sgemm(CblasRowMajor, opA, opB, rows, columns, depth, 1, left, strideA, right, strideB,
                    0, out, columns);
      else
        cblas_dgemm(CblasRowMajor, opA, opB, rows, columns, depth, 1, left, strideA, right, strideB,
                    0, out, columns);
    }
  };
  if (input == ElementType::F32)
    return Peer{"openblas", [run] { run(float()); }};
  return Peer{"openblas", [run] { run(double()); }};
}

std::optional<dnnl::memory::data_type> typeOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return dnnl::memory::data_type::f32;
  case ElementType::BF16:
    return dnnl::memory::data_type::bf16;
  case ElementType::F16:
    return dnnl::memory::data_type::f16;
  case ElementType::I8:
    return dnnl::memory::data_type::s8;
  case ElementType::I32:
    return dnnl::memory::data_type::s32;
  default:
    return std::nullopt;
  }
}

std::optional<Peer> onednn(const Product &product, int threads, const void *a, const void *b,
                           void *c) {
  const auto [batch, m, n, k, transposeA, transposeB, input, result] = product;
  auto in = typeOf(input), out = typeOf(result);
  if (!in || !out)
    return std::nullopt;
  setThreadsOfOpenMP(threads);
  using dnnl::memory;
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  memory::desc left({batch, m, k}, *in,
                    transposeA ? memory::dims{m * k, 1, m} : memory::dims{m * k, k, 1});
  memory::desc right({batch, k, n}, *in,
                     transposeB ? memory::dims{k * n, 1, k} : memory::dims{k * n, n, 1});
  memory::desc target({batch, m, n}, *out, memory::dims{m * n, n, 1});
  std::unique_ptr<dnnl::matmul> matmul;
  try {
    matmul = std::make_unique<dnnl::matmul>(
        dnnl::matmul::primitive_desc(dnnl::matmul::desc(left, right, target), engine));
  } catch (const dnnl::error &) {
    return std::nullopt; // not on this processor
  }
  struct State {
    std::unique_ptr<dnnl::matmul> matmul;
    dnnl::stream stream;
    memory left, right, target;
  };
  auto state = std::make_shared<State>(
      State{std::move(matmul), dnnl::stream(engine), memory(left, engine, const_cast<void *>(a)),
            memory(right, engine, const_cast<void *>(b)), memory(target, engine, c)});
  return Peer{"onednn", [state, threads] {
                setThreadsOfOpenMP(threads);
                state->matmul->execute(state->stream, {{DNNL_ARG_SRC, state->left},
                                                       {DNNL_ARG_WEIGHTS, state->right},
                                                       {DNNL_ARG_DST, state->target}});
                state->stream.wait();
              }};
}

} // namespace

std::vector<Peer> peersOf(const Product &product, int threads, const void *a, const void *b,
                          void *c) {
  std::vector<Peer> peers;
  for (auto *make : {openblas, onednn})
    if (std::optional<Peer> peer = make(product, threads, a, b, c))
      peers.push_back(std::move(*peer));
  return peers;
}

} // namespace plim::bench
