// What the runtime costs beside its work, and what the same costs in oneTBB and the standard library.
//
// All work but that of the latencies is on 16 floats, so that times are those of the way to it.
//
//   chain/dispatches  callInto of 100 dependent dispatches that do not fuse; the same functions through
//                     pointers in a loop ("loop"), and as nodes of a flow graph ("flow_graph"). "_hop_ns" is
//                     by dispatch. Aim: 30 ns beside the loop ("extra_ns"), one thread
//   chain/adds        callInto of 100 dependent additions, which the compiler fuses; a loop over pointers and
//                     a flow graph of 100 nodes, which cannot. Aim: 6 us
//   chain/hops        8 or 64 dependent dispatches of two workgroups, 2 us each, with two threads: the runtime
//                     alone, without compiled code; a parallel_for for each; a graph in which both nodes of
//                     a level wait for both of the level before. "_hop_ns" is what a level takes beyond
//                     one workgroup ("work"). Aim: 250 ns
//   async/call        callAsync and wait; std::async and get; task_arena::enqueue and a wait for a flag
//   async/chain       100 calls, each after the one before, and a wait for the last; a flow graph of
//                     continue_nodes that is made beforehand, and does less: no arguments to check
//   async/many        100 calls that do not depend on each other; as many enqueued tasks
//   callers/N         N threads that call one function, per second; the same function as a C call. Counted is
//                     the time from the first call to the last
//   latency/KIND      how long a call takes while eight products of 256 wait for the worker at any time: called,
//                     or by itself with their priority, or with a high one, seen by its callback. The peer is a
//                     task enqueued beside tasks as long. Look at the quantiles

#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"
#include "engine/runtime/CallContext.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/ScheduleRun.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <latch>
#include <thread>

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::Priority;
using runtime::Value;
namespace flow = oneapi::tbb::flow;

namespace {

constexpr int64_t nodes = 100;
constexpr const char *addSource = R"(
func.func @add(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %r = arith.addf %a, %b : tensor<16xf32>
  return %r : tensor<16xf32>
})";

/// Where the functions of a chain work.
struct Cells {
  alignas(64) float v[16], x[16];
  float sum;
};
using Step = void (*)(Cells &);

[[gnu::noinline]] void addUp(Cells &cells) {
  cells.sum = 0;
  for (float each : cells.v)
    cells.sum += each;
}
[[gnu::noinline]] void subtract(Cells &cells) {
  for (float &each : cells.v)
    each -= cells.sum * 0.0625F;
}
[[gnu::noinline]] void add(Cells &cells) {
  for (int i = 0; i < 16; ++i)
    cells.v[i] += cells.x[i];
}

/// The steps as a chain of nodes, in an arena with as many threads.
class Graph {
public:
  Graph(const std::vector<Step> &steps, Cells &cells, int threads) : arena(threads) {
    arena.execute([&] {
      graph.emplace();
      for (Step step : steps) {
        chain.push_back(std::make_unique<Node>(
            *graph, [step, &cells](const flow::continue_msg &) { step(cells); }));
        if (chain.size() > 1)
          flow::make_edge(*chain[chain.size() - 2], *chain.back());
      }
    });
  }
  void run() {
    arena.execute([&] {
      chain.front()->try_put({});
      graph->wait_for_all();
    });
  }

private:
  using Node = flow::continue_node<flow::continue_msg>;
  oneapi::tbb::task_arena arena;
  std::optional<flow::graph> graph;
  std::vector<std::unique_ptr<Node>> chain;
};

std::function<void()> repeat(int64_t calls, std::function<void()> once) {
  return [calls, once = std::move(once)] {
    for (int64_t i = 0; i < calls; ++i)
      once();
  };
}

std::string addsModule() {
  std::string text = "!t = tensor<16xf32>\nfunc.func @main(%v0: !t, %x: !t) -> !t {\n";
  for (int64_t i = 1; i <= nodes; ++i)
    text += "  %v" + std::to_string(i) + " = arith.addf %v" + std::to_string(i - 1) + ", %x : !t\n";
  return text + "  return %v" + std::to_string(nodes) + " : !t\n}\n";
}

void hop(benchmark::State &state, const char *name) {
  state.counters[name + std::string("_hop_ns")] =
      state.counters[name + std::string("_us")] * 1e3 / static_cast<double>(nodes);
}

/// Ours against the same steps through pointers and in a graph.
void chain(benchmark::State &state, const std::string &source, std::vector<Value> arguments,
           const std::vector<Step> &steps) {
  constexpr int64_t calls = 200;
  const auto threads = static_cast<int>(state.range(0));
  auto engine = makeEngine(threads);
  std::vector<Value> results(1);
  CheckedFunction ours = loadChecked(*engine, source, "main", arguments, 1e-4F);
  Cells cells;
  auto reset = [&] {
    std::memcpy(cells.v, elements(std::get<Buffer>(arguments[0])), sizeof cells.v);
    std::memcpy(cells.x, elements(std::get<Buffer>(arguments.back())), sizeof cells.x);
  };
  Graph graph(steps, cells, threads);
  auto loop = [&steps, &cells] {
    for (Step step : steps)
      step(cells);
  };
  reset();
  loop();
  checkClose("the loop", cells.v, ours.expected, 1e-4F);
  reset();
  graph.run();
  checkClose("the graph", cells.v, ours.expected, 1e-4F);
  Contest contest(state);
  contest.add("plimsoll",
              repeat(calls, [&] { orFail(ours.function.callInto(arguments, results)); }), 0, calls);
  contest.add("loop", repeat(calls, [&] { loop(); }), 0, calls);
  contest.add("flow_graph", repeat(calls, [&] { graph.run(); }), 0, calls);
  contest.run();
  for (const char *name : {"plimsoll", "loop", "flow_graph"})
    hop(state, name);
  state.counters["extra_ns"] = state.counters["plimsoll_hop_ns"] - state.counters["loop_hop_ns"];
}

void chainDispatches(benchmark::State &state) {
  std::vector<Step> steps;
  for (int64_t i = 0; i < nodes / 2; ++i)
    steps.insert(steps.end(), {addUp, subtract});
  chain(state, dispatchChain(nodes / 2), {randomTensor({16})}, steps);
}

void chainAdds(benchmark::State &state) {
  chain(state, addsModule(), {randomTensor({16}), randomTensor({16})},
        std::vector<Step>(nodes, add));
}

constexpr std::chrono::nanoseconds hopWork = std::chrono::microseconds(2);
void workForAHop() {
  for (auto end = std::chrono::steady_clock::now() + hopWork;
       std::chrono::steady_clock::now() < end;) {
  }
}
plim_code runHop(plim_context *, void *const *, const int64_t *, int64_t begin, int64_t end) {
  for (; begin < end; ++begin)
    workForAHop();
  return 0;
}

void chainHops(benchmark::State &state) {
  constexpr int64_t calls = 20;
  const auto levels = static_cast<size_t>(state.range(0));
  auto pool = std::make_shared<runtime::MemoryPool>();
  runtime::Executor executor(pool, {.threads = 2});
  runtime::CallContext call(executor, *pool, *pool, {});
  const plim_dispatch dispatch = {
      .entry = runHop, .name = "hop", .cost = runtime::ScheduleRun::chunkOperations, .grid = 2};
  const std::vector<plim_launch> launches(levels, {&dispatch, nullptr, nullptr});
  std::vector<uint64_t> predecessors = {0};
  while (predecessors.size() < levels)
    predecessors.push_back(uint64_t{1} << (predecessors.size() - 1));

  oneapi::tbb::task_arena arena(2);
  std::optional<flow::graph> graph;
  using Node = flow::continue_node<flow::continue_msg>;
  std::vector<std::unique_ptr<Node>> graphNodes;
  arena.execute([&] {
    graph.emplace();
    for (size_t i = 0; i < 2 * levels; ++i) {
      graphNodes.push_back(
          std::make_unique<Node>(*graph, [](const flow::continue_msg &) { workForAHop(); }));
      for (size_t before = i / 2 * 2; i >= 2 && before-- > i / 2 * 2 - 2;)
        flow::make_edge(*graphNodes[before], *graphNodes[i]);
    }
  });

  Contest contest(state);
  contest.add("plimsoll",
              repeat(calls, [&] { executor.run(call.context(), launches, predecessors.data()); }),
              0, calls);
  contest.add("parallel_for",
              repeat(calls,
                     [&] {
                       arena.execute([&] {
                         for (size_t i = 0; i < levels; ++i)
                           oneapi::tbb::parallel_for(
                               0, 2, [](int) { workForAHop(); }, oneapi::tbb::simple_partitioner());
                       });
                     }),
              0, calls);
  contest.add("flow_graph",
              repeat(calls,
                     [&] {
                       arena.execute([&] {
                         graphNodes[0]->try_put({});
                         graphNodes[1]->try_put({});
                         graph->wait_for_all();
                       });
                     }),
              0, calls);
  contest.add("work", repeat(calls * static_cast<int64_t>(levels), workForAHop), 0, calls);
  contest.run();
  orFail(call.status());
  for (const char *name : {"plimsoll", "parallel_for", "flow_graph"})
    state.counters[name + std::string("_hop_ns")] =
        (state.counters[name + std::string("_us")] - state.counters["work_us"]) * 1e3 /
        static_cast<double>(levels);
}

struct Add {
  explicit Add(int threads) : engine(makeEngine(threads)) {
    checked =
        std::make_unique<CheckedFunction>(loadChecked(*engine, addSource, "add", arguments, 0));
    std::memcpy(cells.v, elements(std::get<Buffer>(arguments[0])), sizeof cells.v);
    std::memset(cells.x, 0, sizeof cells.x);
  }
  const Function &function() const { return checked->function; }

  std::shared_ptr<Engine> engine;
  std::vector<Value> arguments = {randomTensor({16}), randomTensor({16})};
  std::unique_ptr<CheckedFunction> checked;
  Cells cells;
};

void asyncCall(benchmark::State &state) {
  constexpr int64_t calls = 200;
  Add work(2);
  oneapi::tbb::task_arena arena(2, 1);
  Contest contest(state);
  contest.add("plimsoll",
              repeat(calls, [&] { orFail(work.function().callAsync(work.arguments).wait()); }), 0,
              calls);
  contest.add(
      "std_async",
      repeat(calls, [&] { std::async(std::launch::async, [&] { add(work.cells); }).get(); }), 0,
      calls);
  contest.add("enqueue",
              repeat(calls,
                     [&] {
                       std::atomic<bool> isDone{false};
                       arena.enqueue([&] {
                         add(work.cells);
                         isDone = true;
                         isDone.notify_one();
                       });
                       isDone.wait(false);
                     }),
              0, calls);
  contest.run();
}

void asyncChain(benchmark::State &state) {
  constexpr int64_t calls = 20;
  Add work(2);
  Graph graph(std::vector<Step>(nodes, add), work.cells, 2);
  std::vector<Value> buffers = {randomTensor({16}), zeroTensor({16}), zeroTensor({16})};
  Contest contest(state);
  contest.add(
      "plimsoll",
      repeat(calls,
             [&] {
               Event last;
               for (int64_t i = 0; i < nodes; ++i) {
                 // To and fro between two buffers.
                 std::array<Value, 2> arguments = {buffers[static_cast<size_t>(i % 2)], buffers[2]};
                 std::array outputs = {std::get<Buffer>(buffers[static_cast<size_t>(1 - i % 2)])};
                 last = work.function().callAsync(
                     arguments,
                     {.call = {.outputs = outputs}, .after = std::span(&last, last ? 1 : 0)});
               }
               orFail(last.wait());
             }),
      0, calls);
  contest.add("flow_graph", repeat(calls, [&] { graph.run(); }), 0, calls);
  contest.run();
  for (const char *name : {"plimsoll", "flow_graph"})
    hop(state, name);
}

void asyncMany(benchmark::State &state) {
  constexpr int64_t calls = 20;
  Add work(2);
  oneapi::tbb::task_arena arena(2, 1);
  std::vector<Cells> cells(static_cast<size_t>(nodes), work.cells);
  std::vector<Event> events(static_cast<size_t>(nodes));
  Contest contest(state);
  contest.add("plimsoll",
              repeat(calls,
                     [&] {
                       for (Event &event : events)
                         event = work.function().callAsync(work.arguments);
                       for (const Event &event : events)
                         orFail(event.wait());
                     }),
              0, calls);
  contest.add("enqueue",
              repeat(calls,
                     [&] {
                       std::latch done(nodes);
                       for (Cells &each : cells)
                         arena.enqueue([&] {
                           add(each);
                           done.count_down();
                         });
                       done.wait();
                     }),
              0, calls);
  contest.run();
  for (const char *name : {"plimsoll", "enqueue"})
    hop(state, name);
}

void callers(benchmark::State &state) {
  constexpr int64_t calls = 20000;
  const int64_t threads = state.range(0);
  Add work(2);
  auto turn = [&](auto job) {
    return [threads, job] {
      std::latch start(threads);
      std::vector<std::jthread> running;
      for (int64_t t = 0; t < threads; ++t)
        running.emplace_back([&, job] {
          start.arrive_and_wait();
          job();
        });
    };
  };
  Contest contest(state, "Gcalls");
  const auto all = static_cast<double>(calls);
  contest.add("plimsoll", turn([&] {
                std::vector<Value> results(1);
                for (int64_t i = 0; i < calls / threads; ++i)
                  orFail(work.function().callInto(work.arguments, results));
              }),
              all, 1);
  contest.add("c", turn([&] {
                Cells cells = work.cells;
                Step step = add;
                benchmark::DoNotOptimize(step);
                for (int64_t i = 0; i < calls / threads; ++i)
                  step(cells);
              }),
              all, 1);
  contest.run();
}

std::string productModule() {
  return R"(
!t = tensor<256x256xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  return %r : !t
})";
}

enum class Way { Called, Normal, High, Enqueued };

template <Way way> void latency(benchmark::State &state) {
  Add work(2);
  std::vector<Value> matrices = {randomTensor({256, 256}), randomTensor({256, 256})};
  CheckedFunction product = loadChecked(*work.engine, productModule(), "main", matrices, 1e-4F);
  oneapi::tbb::task_arena arena(2, 1);
  // Eight large ones in flight at any time; each starts its successor.
  std::atomic<bool> isOver{false};
  std::atomic<int> inFlight{8};
  std::function<void()> again = [&] {
    if (isOver) {
      --inFlight;
      return;
    }
    if (way == Way::Enqueued)
      arena.enqueue([&] {
        std::vector<Value> results(1);
        orFail(product.function.callInto(matrices, results));
        again();
      });
    else
      product.function.callAsync(matrices).then([&](const Event &) { again(); });
  };
  for (int i = 0; i < 8; ++i)
    again();
  std::vector<double> seconds;
  std::vector<Value> results(1);
  for ([[maybe_unused]] auto _ : state) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const auto start = std::chrono::steady_clock::now();
    if (way == Way::Called) {
      orFail(work.function().callInto(work.arguments, results));
    } else {
      std::atomic<bool> isDone{false};
      auto end = [&] {
        isDone = true;
        isDone.notify_one();
      };
      Event event;
      if (way == Way::Enqueued)
        arena.enqueue([&] {
          add(work.cells);
          end();
        });
      else
        event = work.function().callAsync(
            work.arguments, {.priority = way == Way::High ? Priority::High : Priority::Normal});
      if (event)
        event.then([&](const Event &) { end(); });
      isDone.wait(false);
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds.push_back(took.count());
    state.SetIterationTime(took.count());
  }
  isOver = true;
  while (inFlight > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (auto [name, q] :
       {std::pair("p50_us", 0.5), std::pair("p99_us", 0.99), std::pair("max_us", 1.0)})
    state.counters[name] = quantile(seconds, q) * 1e6;
}

void registerAll() {
  auto add = [](const char *name, auto function, int64_t rounds) {
    return benchmark::RegisterBenchmark(name, function)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(rounds);
  };
  add("chain/dispatches", chainDispatches, 51)->ArgName("threads")->Arg(1)->Arg(2);
  add("chain/adds", chainAdds, 51)->ArgName("threads")->Arg(1)->Arg(2);
  add("chain/hops", chainHops, 51)->ArgName("levels")->Arg(8)->Arg(64);
  add("async/call", asyncCall, 51);
  add("async/chain", asyncChain, 51);
  add("async/many", asyncMany, 51);
  add("callers", callers, 51)->ArgName("callers")->Arg(1)->Arg(2)->Arg(4)->Arg(8);
  add("latency/called", latency<Way::Called>, 1000);
  add("latency/normal", latency<Way::Normal>, 1000);
  add("latency/high", latency<Way::High>, 1000);
  add("latency/enqueued", latency<Way::Enqueued>, 1000);
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
