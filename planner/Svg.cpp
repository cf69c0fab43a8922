#include "planner/Svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace plim::planner {

namespace {

constexpr double width = 960, height = 420, margin = 60, gutter = 24;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// For text and attributes. What XML 1.0 has no place for becomes a question mark, as does what is
/// not ASCII: names may be in any encoding.
std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c < ' ' || c > '~' ? '?' : c;
  return result;
}

class Drawing {
public:
  Drawing(const Problem &problem, const Plan &plan) : problem(problem), plan(plan) {
    bool isFirst = true;
    for (const Buffer &buffer : problem.buffers)
      for (Interval live : buffer.lifetime) {
        first = isFirst ? double(live.lower) : std::min(first, double(live.lower));
        last = isFirst ? double(live.upper) : std::max(last, double(live.upper));
        isFirst = false;
      }
  }

  std::string run() {
    size_t count = problem.pools.size();
    double whole = margin + double(count) * (height + margin);
    result = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
             number(width + 2 * margin) + " " + number(whole) +
             "\" font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    for (uint32_t pool = 0; pool < count; ++pool)
      drawPool(pool, margin + double(pool) * (height + margin));
    return result + "</svg>\n";
  }

private:
  double across(int64_t time) const {
    return margin + width * (double(time) - first) / std::max(1.0, last - first);
  }

  void drawPool(uint32_t pool, double top) {
    int64_t peak = plan.peaks[pool], bound = plan.lowerBounds[pool];
    std::optional<int64_t> capacity = problem.pools[pool].capacity;
    // A capacity far above would leave no room for the plan.
    bool showsCapacity = capacity && double(*capacity) <= 1.5 * double(peak);
    double most = std::max(1.0, double(showsCapacity ? std::max(peak, *capacity) : peak));
    auto up = [&](double offset) { return top + height * (1 - offset / most); };
    auto line = [&](int64_t offset, const char *color, const std::string &what, double textAt) {
      std::string y = number(up(double(offset)));
      result += "<line x1=\"" + number(margin) + "\" x2=\"" + number(margin + width) + "\" y1=\"" +
                y + "\" y2=\"" + y + "\" stroke=\"" + color + "\" stroke-dasharray=\"6 3\"/>\n";
      result += "<text x=\"" + number(textAt) + "\" y=\"" +
                number(std::max(top, up(double(offset))) - 4) + "\" fill=\"" + color + "\">" +
                what + " " + std::to_string(offset) + "</text>\n";
    };
    result += "<rect x=\"" + number(margin) + "\" y=\"" + number(top) + "\" width=\"" +
              number(width) + "\" height=\"" + number(height) +
              "\" fill=\"#f4f4f4\" stroke=\"#888\"/>\n";
    const std::string &name = problem.pools[pool].name;
    if (!name.empty())
      result += "<text x=\"" + number(margin) + "\" y=\"" + number(top - gutter) + "\">" +
                escaped(name) + "</text>\n";
    for (uint32_t i = 0; i < problem.buffers.size(); ++i)
      if (plan.pools[i] == pool && problem.buffers[i].bytes > 0)
        drawBuffer(i, up);
    line(peak, "#c00", "peak", margin);
    if (bound < peak)
      line(bound, "#06c", "lower bound", margin + width / 3);
    if (showsCapacity && *capacity != peak)
      line(*capacity, "#555", "capacity", margin + 2 * width / 3);
  }

  template <typename Up> void drawBuffer(uint32_t index, Up up) {
    const Buffer &buffer = problem.buffers[index];
    int64_t offset = plan.offsets[index];
    double low = up(double(offset)), high = up(double(offset) + double(buffer.bytes));
    // Neighbours differ most by steps of the golden ratio.
    double hue = std::fmod(double(index) * 137.508, 360);
    for (Interval live : buffer.lifetime) {
      if (live.lower == live.upper)
        continue;
      double left = across(live.lower), right = across(live.upper);
      result += "<rect x=\"" + number(left) + "\" y=\"" + number(high) + "\" width=\"" +
                number(right - left) + "\" height=\"" + number(low - high) + "\" fill=\"hsl(" +
                number(hue) + ",60%,72%)\" stroke=\"#333\" stroke-width=\"0.4\"><title>" +
                escaped(buffer.name.empty() ? std::to_string(index) : buffer.name) + ": live " +
                std::to_string(live.lower) + " to " + std::to_string(live.upper) + ", " +
                std::to_string(buffer.bytes) + " bytes at " + std::to_string(offset) +
                "</title></rect>\n";
    }
  }

  const Problem &problem;
  const Plan &plan;
  double first = 0, last = 1; // of all lifetimes
  std::string result;
};

} // namespace

std::string drawSvg(const Problem &problem, const Plan &plan) {
  return Drawing(problem, plan).run();
}

} // namespace plim::planner
