#include "bench/peers/Peers.h"

#include <cblas.h>
#include <dlfcn.h>
#include <dnnl.hpp>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

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
  // Threads that wait for work by turning in a loop have it at the cost of whose turn it is, and those that sleep at once take
  // longer to wake than a small problem takes: some ten microseconds, as oneTBB's.
  setenv("GOMP_SPINCOUNT", "2000", 0);
  setenv("OPENBLAS_THREAD_TIMEOUT", "16", 0);
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

std::vector<Peer> peersOf(const Convolution &convolution, int threads, const void *image,
                          const void *filter, void *result) {
  using dnnl::memory;
  const std::optional<memory::data_type> element = typeOf(convolution.element),
                                         sum = typeOf(convolution.sum);
  if (!element || !sum)
    return {};
  setThreadsOfOpenMP(threads);
  const bool isGrouped = convolution.groups > 1;
  std::string space;
  for (char letter : {'d', 'h', 'w'})
    if (convolution.image.find(letter) != std::string::npos)
      space += letter;
  auto strideOf = [](const std::string &letters, const std::vector<int64_t> &shape, char letter) {
    int64_t stride = 1;
    for (size_t i = letters.find(letter) + 1; i < shape.size(); ++i)
      stride *= shape[i];
    return letters.find(letter) == std::string::npos ? 1 : stride;
  };
  // oneDNN has the channels of all groups in one dimension of images: that of the one which is there.
  auto imageDesc = [&](const std::string &letters, const std::vector<int64_t> &shape, char channel,
                       memory::data_type type) {
    memory::dims dims = {convolution.batch, convolution.groups * convolution.extent(channel)};
    const bool hasChannel = letters.find(channel) != std::string::npos;
    memory::dims strides = {strideOf(letters, shape, 'n'),
                            strideOf(letters, shape, hasChannel ? channel : 'g')};
    for (char letter : space) {
      dims.push_back(shape[letters.find(letter)]);
      strides.push_back(strideOf(letters, shape, letter));
    }
    return memory::desc(dims, type, strides);
  };
  memory::dims filterDims = {convolution.filters, convolution.channels}, filterStrides;
  const std::vector<int64_t> filterShape = convolution.filterShape();
  for (char letter : {'f', 'c'})
    filterStrides.push_back(strideOf(convolution.filter, filterShape, letter));
  if (isGrouped) {
    filterDims.insert(filterDims.begin(), convolution.groups);
    filterStrides.insert(filterStrides.begin(), strideOf(convolution.filter, filterShape, 'g'));
  }
  memory::dims strides, dilations, none;
  for (char letter : space) {
    const Convolution::Axis &axis = convolution.axis(letter);
    filterDims.push_back(axis.window);
    filterStrides.push_back(strideOf(convolution.filter, filterShape, letter));
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    none.push_back(0);
  }
  const memory::desc source = imageDesc(convolution.image, convolution.imageShape(), 'c', *element);
  const memory::desc target = imageDesc(convolution.result, convolution.resultShape(), 'f', *sum);
  const memory::desc plain(filterDims, *element, filterStrides);
  const memory::desc any(filterDims, *element, memory::format_tag::any);

  // With what packed or reordered: whatever oneDNN likes best.
  struct Form {
    const char *name;
    bool isFilterFree, isImageFree;
  };
  struct State {
    dnnl::convolution_forward convolution;
    dnnl::stream stream;
    memory source, weights, target, ownSource, ownTarget; // own: as the convolution has them
  };
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  auto anyOf = [](const memory::desc &plain, memory::data_type type) {
    return memory::desc(plain.dims(), type, memory::format_tag::any);
  };
  std::vector<Peer> peers;
  for (Form form : {Form{"onednn", false, false}, Form{"onednn_packed", true, false},
                    Form{"onednn_reordered", true, true}}) {
    using Forward = dnnl::convolution_forward;
    Forward::primitive_desc chosen;
    try {
      chosen = Forward::primitive_desc(
          Forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                        form.isImageFree ? anyOf(source, *element) : source,
                        form.isFilterFree ? anyOf(plain, *element) : plain,
                        form.isImageFree ? anyOf(target, *sum) : target, strides, dilations, none,
                        none),
          engine);
    } catch (const dnnl::error &) {
      continue; // not of this type, or not on this processor
    }
    // Plain loops are what it takes where it has no kernel: nobody's peer.
    if (std::string_view(chosen.impl_info_str()).starts_with("ref"))
      continue;
    dnnl::stream stream(engine);
    auto reorder = [](dnnl::stream &on, memory &from, memory &to) {
      dnnl::reorder(from, to).execute(on, from, to);
    };
    auto own = [&](memory &plainMemory, const memory::desc &wanted) {
      return wanted == plainMemory.get_desc() ? plainMemory : memory(wanted, engine);
    };
    memory weights(plain, engine, const_cast<void *>(filter)),
        images(source, engine, const_cast<void *>(image)), results(target, engine, result);
    memory ownWeights = own(weights, chosen.weights_desc());
    if (ownWeights != weights)
      reorder(stream, weights, ownWeights);
    stream.wait();
    auto state = std::make_shared<State>(State{Forward(chosen), stream, images, ownWeights, results,
                                               own(images, chosen.src_desc()),
                                               own(results, chosen.dst_desc())});
    if (form.isImageFree && state->ownSource == state->source && state->ownTarget == state->target)
      continue; // as before
    peers.push_back({form.name, [state, threads, reorder] {
                       setThreadsOfOpenMP(threads);
                       if (state->ownSource != state->source)
                         reorder(state->stream, state->source, state->ownSource);
                       state->convolution.execute(state->stream,
                                                  {{DNNL_ARG_SRC, state->ownSource},
                                                   {DNNL_ARG_WEIGHTS, state->weights},
                                                   {DNNL_ARG_DST, state->ownTarget}});
                       if (state->ownTarget != state->target)
                         reorder(state->stream, state->ownTarget, state->target);
                       state->stream.wait();
                     }});
  }
  return peers;
}

} // namespace plim::bench
