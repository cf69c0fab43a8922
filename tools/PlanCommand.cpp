#include "tools/PlanCommand.h"

#include "engine/session/Engine.h"
#include "planner/Certificate.h"
#include "planner/Csv.h"
#include "planner/Printable.h"
#include "planner/Svg.h"
#include "tools/ModuleCall.h"
#include "tools/Text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <limits>
#include <numeric>
#include <ostream>
#include <thread>

namespace plim::tools {

namespace {

using namespace planner;

bool parseNumber(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Adds the pool NAME[=[BYTES][:ALIGNMENT[:WEIGHT]]]. What is wrong with it, or nothing.
std::string addPool(const std::string &text, Problem &problem) {
  std::string fault = "pool '" + text + "' must be NAME[=[BYTES][:ALIGNMENT[:WEIGHT]]]";
  size_t equals = std::min(text.find('='), text.size());
  Pool pool;
  pool.name = text.substr(0, equals);
  if (pool.name.empty())
    return fault;
  for (const Pool &other : problem.pools)
    if (other.name == pool.name)
      return "pool '" + pool.name + "' is given twice";
  size_t at = equals + 1;
  for (int part = 0; at <= text.size() && equals < text.size(); ++part) {
    size_t end = std::min(text.find(':', at), text.size());
    std::string_view number = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (part == 0 && number.empty())
      continue;
    int64_t value = 0;
    if (part > 2 || !parseNumber(number, value))
      return fault;
    if (part == 0)
      pool.capacity = value;
    else if (part == 1)
      pool.alignment = value;
    else
      pool.weight = value;
    if (part == 2)
      problem.objective = Objective::WeightedPeaks;
  }
  problem.pools.push_back(std::move(pool));
  return "";
}

int64_t sum(const std::vector<int64_t> &values) {
  return std::accumulate(values.begin(), values.end(), int64_t(0));
}

const char *nameOf(planner::Status status) {
  switch (status) {
  case planner::Status::Optimal:
    return "optimal";
  case planner::Status::Feasible:
    return "feasible";
  case planner::Status::Unknown:
    return "unknown";
  case planner::Status::Infeasible:
    return "infeasible";
  case planner::Status::Invalid:
    return "invalid";
  }
}

void printPlan(const Problem &problem, const Plan &plan, std::ostream &out) {
  for (size_t i = 0; problem.pools.size() > 1 && i < problem.pools.size(); ++i) {
    const Pool &pool = problem.pools[i];
    out << "pool " << pool.name << ": peak " << plan.peaks[i];
    if (pool.capacity)
      out << " of " << *pool.capacity;
    out << ", lower bound " << plan.lowerBounds[i] << ", "
        << std::count(plan.pools.begin(), plan.pools.end(), uint32_t(i)) << " buffers\n";
  }
  int64_t peak = sum(plan.peaks), bound = sum(plan.lowerBounds), gap = peak - bound;
  double percent = bound > 0 ? 100 * double(gap) / double(bound) : 0;
  // Of several pools, others than these might hold the buffers.
  bool isOfAssignment = problem.pools.size() > 1 && plan.status != planner::Status::Optimal;
  out << "peak: " << peak << "\nlower bound: " << bound
      << (isOfAssignment ? " for this assignment" : "") << "\ngap: " << gap << " (" << std::fixed
      << std::setprecision(2) << percent << "%)\n";
}

void printSearch(const Plan &plan, double milliseconds, std::ostream &out) {
  out << "status: " << nameOf(plan.status) << "\nnodes: " << plan.nodes << "\ntime: " << std::fixed
      << std::setprecision(2) << milliseconds << " ms\n";
}

/// Why there is none.
void printFailure(const Problem &problem, const Plan &plan, std::ostream &out) {
  out << "missing bytes: " << plan.missingBytes << "\n";
  if (plan.subset.empty())
    return;
  out << "no plan holds all of:";
  for (uint32_t buffer : plan.subset)
    out << " " << printable(problem.buffers[buffer].name);
  out << "\n";
}

} // namespace

int runPlanCommand(const PlanOptions &options, std::ostream &out, std::ostream &err) {
  Problem problem;
  problem.pools[0].capacity = options.capacity;
  if (!options.pools.empty())
    problem.pools.clear();
  for (const std::string &text : options.pools)
    if (std::string fault = addPool(text, problem); !fault.empty()) {
      fail(err, fault);
      return 2;
    }
  StatusOr<std::string> text = Engine::readSource(options.file);
  if (!text.ok())
    return fail(err, text.status().message());
  for (const std::string &path : {options.output, options.svg, options.certificate})
    if (!path.empty())
      if (plim::Status status = checkWritable(path); !status.ok())
        return fail(err, status.message());
  if (std::optional<CsvFault> fault = readCsv(*text, problem))
    return fail(err, options.file + ":" + std::to_string(fault->line) + ":" +
                         std::to_string(fault->column) + ": " + fault->message);
  if (problem.buffers.empty())
    err << "warning: " << options.file << ": there is a header, but no buffer below it\n";

  Options search;
  constexpr uint64_t defaultNodes = 1'000'000;
  search.nodes = options.seconds ? std::numeric_limits<uint64_t>::max() : defaultNodes;
  if (options.nodes)
    search.nodes = uint64_t(*options.nodes);
  search.threads =
      options.threads > 0 ? unsigned(options.threads) : std::thread::hardware_concurrency();
  // What a time gives depends on the threads in any case.
  constexpr unsigned mostOrders = 8;
  if (options.orders > 0)
    search.orders = unsigned(options.orders);
  else if (options.seconds && !options.nodes)
    search.orders = std::clamp(search.threads / 2, 1u, mostOrders);
  auto start = std::chrono::steady_clock::now();
  if (options.seconds)
    search.stop = [end = start + std::chrono::duration<double>(*options.seconds)] {
      return std::chrono::steady_clock::now() >= end;
    };
  Plan plan = solve(problem, search);
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

  if (plan.status == planner::Status::Invalid)
    return fail(err, options.file + ": " + plan.message);
  out << "buffers: " << problem.buffers.size() << "\n";
  if (!plan.isFound()) {
    printSearch(plan, time.count(), out);
    printFailure(problem, plan, out);
    return fail(err, options.file + ": " + plan.message);
  }
  // The planner's own word is not enough for what others will write to.
  if (std::string fault = verify(problem, plan); !fault.empty())
    return fail(err, options.file + ": the planner is wrong: " + fault);
  printPlan(problem, plan, out);
  printSearch(plan, time.count(), out);
  auto write = [](const std::string &path, const std::string &what) {
    return path.empty() || (std::ofstream(path, std::ios::binary) << what).flush().good();
  };
  if (!write(options.output, options.output.empty() ? "" : writeCsv(*text, problem, plan)))
    return fail(err, "cannot write '" + options.output + "'");
  if (!write(options.svg, options.svg.empty() ? "" : drawSvg(problem, plan)))
    return fail(err, "cannot write '" + options.svg + "'");
  if (options.certificate.empty())
    return 0;
  constexpr uint64_t nodesOfProof = 4'000'000;
  Certificate certificate = certify(problem, plan, nodesOfProof);
  if (certificate.text.empty())
    return fail(err, options.file + ": " + certificate.message);
  if (!write(options.certificate, certificate.text))
    return fail(err, "cannot write '" + options.certificate + "'");
  return 0;
}

} // namespace plim::tools
