#include "bench/policies/Report.h"

#include "tools/Text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace plim::bench {
namespace {

// Colours that those who do not see red or green tell apart (Okabe and Ito).
constexpr std::array colours = {"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"};
constexpr double left = 60, top = 40, height = 320, bar = 12, gap = 18, labels = 150;

std::string escaped(const std::string &text) {
  std::string safe;
  for (char c : text)
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

} // namespace

std::string plot(const std::vector<Result> &results) {
  double highest = 2, lowest = 0.9;
  for (const Result &result : results)
    for (const Lap &lap : result.laps) {
      highest = std::max(highest, lap.versusFirst * 1.1);
      lowest = std::min(lowest, lap.versusFirst * 0.95);
    }
  auto y = [&](double ratio) {
    return top + height * std::log(highest / ratio) / std::log(highest / lowest);
  };
  size_t policies = results.empty() ? 0 : results[0].laps.size();
  double group = bar * static_cast<double>(policies) + gap;
  double width = left + group * static_cast<double>(results.size()) + 100;

  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << std::max(width, 520.0)
      << "\" height=\"" << top + height + labels
      << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (size_t i = 0; i < policies; ++i) {
    double x = left + 90.0 * static_cast<double>(i);
    svg << "<rect x=\"" << x << "\" y=\"10\" width=\"10\" height=\"10\" fill=\""
        << colours[i % colours.size()] << "\"/><text x=\"" << x + 14 << "\" y=\"19\">"
        << escaped(results[0].laps[i].policy) << "</text>\n";
  }
  for (double tick : {0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0}) {
    if (tick < lowest || tick > highest)
      continue;
    svg << "<line x1=\"" << left << "\" x2=\"" << width - 90 << "\" y1=\"" << y(tick) << "\" y2=\""
        << y(tick) << "\" stroke=\"" << (tick == 1 ? "black" : "#ccc") << "\"/><text x=\""
        << left - 6 << "\" y=\"" << y(tick) + 4 << "\" text-anchor=\"end\">"
        << tools::formatNumber(tick) << "</text>\n";
  }
  for (size_t r = 0; r < results.size(); ++r) {
    double x = left + gap / 2 + group * static_cast<double>(r);
    for (size_t i = 0; i < results[r].laps.size(); ++i) {
      const Lap &lap = results[r].laps[i];
      double from = y(lap.versusFirst), to = y(1);
      svg << "<rect x=\"" << x + bar * static_cast<double>(i) << "\" y=\"" << std::min(from, to) - 1
          << "\" width=\"" << bar - 1 << "\" height=\"" << std::fabs(to - from) + 2 << "\" fill=\""
          << colours[i % colours.size()] << "\"><title>" << escaped(lap.policy) << ": "
          << tools::formatNumber(lap.medianSeconds * 1e6) << " us, "
          << tools::formatNumber(lap.versusFirst) << "</title></rect>\n";
    }
    double middle = x + (group - gap) / 2;
    svg << "<text transform=\"translate(" << middle << "," << top + height + 12 << ") rotate(40)\">"
        << escaped(results[r].name)
        << (results[r].threads == 1 ? "" : ", " + std::to_string(results[r].threads) + " threads")
        << "</text>\n";
  }
  std::string first = policies == 0 ? "" : results[0].laps[0].policy;
  svg << "<text transform=\"translate(16," << top + height / 2
      << ") rotate(-90)\" text-anchor=\"middle\">median time, by that of " << escaped(first)
      << "</text>\n</svg>\n";
  return svg.str();
}

} // namespace plim::bench
