#include "planner/Csv.h"

#include "planner/Printable.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace plim::planner {

namespace {

enum Column { Id, Lower, Upper, Size, Alignment, Gaps, Offset, Pools, InPool, numColumns };
constexpr std::array<std::string_view, numColumns> columnNames = {
    "id", "lower", "upper", "size", "alignment", "gaps", "offset", "pools", "pool"};
/// Other names of theirs.
constexpr std::pair<std::string_view, Column> synonyms[] = {
    {"buffer", Id}, {"buffer_id", Id}, {"begin", Lower}, {"start", Lower}, {"end", Upper}};
constexpr int numRequired = Size + 1;

constexpr size_t none = ~size_t(0);

struct Cell {
  std::string text;     // without quotes
  std::string_view raw; // with them
  size_t line = 0, column = 0;
};

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

/// The rows of a text, one after the other.
class Rows {
public:
  explicit Rows(std::string_view text) : text(text) {
    if (text.starts_with("\xef\xbb\xbf")) // a byte order mark
      at = lineStart = 3;
  }

  /// The cells of the next row that is not blank. False at the end, or after a fault.
  bool next(std::vector<Cell> &cells) {
    while (at < text.size()) {
      cells.clear();
      do {
        if (!readCell(cells.emplace_back()))
          return false;
      } while (at < text.size() && text[at] == ',' && ++at);
      endLine();
      if (cells.size() > 1 || !cells[0].raw.empty())
        return true;
    }
    return false;
  }

  std::optional<CsvFault> fault;

private:
  static bool isBlank(char c) { return c == ' ' || c == '\t'; }
  bool isAtLineEnd() const {
    return at == text.size() || text[at] == '\n' || text.substr(at).starts_with("\r\n");
  }
  void endLine() {
    if (at < text.size())
      at += text[at] == '\r' ? 2 : 1;
    lineStart = at;
    ++line;
  }

  bool readCell(Cell &cell) {
    while (at < text.size() && isBlank(text[at]))
      ++at;
    cell.line = line;
    cell.column = at - lineStart + 1;
    size_t begin = at;
    if (at < text.size() && text[at] == '"')
      return readQuoted(cell, begin);
    while (!isAtLineEnd() && text[at] != ',')
      ++at;
    size_t end = at;
    while (end > begin && isBlank(text[end - 1]))
      --end;
    cell.raw = text.substr(begin, end - begin);
    cell.text = cell.raw;
    return true;
  }

  bool readQuoted(Cell &cell, size_t begin) {
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"' && (at + 1 == text.size() || text[at + 1] != '"'))
        break;
      if (text[at] == '"')
        ++at;
      if (text[at] == '\n') {
        lineStart = at + 1;
        ++line;
      }
      cell.text += text[at];
    }
    if (at == text.size()) {
      fault = {cell.line, cell.column, "a quote is never closed"};
      return false;
    }
    ++at;
    cell.raw = text.substr(begin, at - begin);
    while (at < text.size() && isBlank(text[at]))
      ++at;
    if (isAtLineEnd() || text[at] == ',')
      return true;
    fault = {line, at - lineStart + 1, "there is text after a closing quote"};
    return false;
  }

  std::string_view text;
  size_t at = 0, lineStart = 0, line = 1;
};

class Reader {
public:
  Reader(std::string_view text, Problem &problem) : rows(text), problem(problem) {}

  std::optional<CsvFault> run() {
    problem.buffers.clear();
    positions.fill(none);
    bool isGood = readHeader();
    while (isGood && rows.next(cells))
      isGood = readBuffer();
    problem.buffers.insert(problem.buffers.end(), windows.begin(), windows.end());
    return std::move(rows.fault);
  }

private:
  bool fail(const Cell &cell, std::string message) {
    rows.fault = {cell.line, cell.column, std::move(message)};
    return false;
  }

  bool readHeader() {
    if (!rows.next(cells)) {
      if (!rows.fault)
        rows.fault = {1, 1, "there is no header"};
      return false;
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      size_t column =
          std::find(columnNames.begin(), columnNames.end(), cells[i].text) - columnNames.begin();
      for (auto [name, meant] : synonyms)
        if (cells[i].text == name)
          column = meant;
      if (column == numColumns) {
        std::string known;
        for (std::string_view name : columnNames)
          known += (known.empty() ? "" : ", ") + std::string(name);
        return fail(cells[i],
                    "no column is called " + quoted(cells[i].text) + ": there are " + known);
      }
      if (positions[column] != none)
        return fail(cells[i], "column " + quoted(cells[i].text) + " is there twice");
      positions[column] = i;
      if (cells[i].text == "end")
        afterLast = 1;
    }
    for (int column = 0; column < numRequired; ++column)
      if (positions[column] == none)
        return fail(cells[0], "column " + quoted(columnNames[column]) + " is missing");
    numCells = cells.size();
    return true;
  }

  bool has(Column column) const { return positions[column] != none && !cell(column).text.empty(); }
  const Cell &cell(Column column) const { return cells[positions[column]]; }

  bool readBuffer() {
    if (cells.size() != numCells)
      return fail(cells[std::min(cells.size() - 1, numCells)],
                  "this line has " + std::to_string(cells.size()) + " cells, the header " +
                      std::to_string(numCells));
    Buffer &buffer = problem.buffers.emplace_back();
    buffer.name = cell(Id).text;
    if (buffer.name.empty())
      return fail(cell(Id), "the id is empty");
    auto [known, isNew] = lineOf.emplace(buffer.name, cell(Id).line);
    if (!isNew)
      return fail(cell(Id), "id " + quoted(buffer.name) + " is taken by line " +
                                std::to_string(known->second));
    Interval life;
    if (!readNumber(Lower, life.lower) || !readUpper(life.upper) || !readNumber(Size, buffer.bytes))
      return false;
    if (life.upper < life.lower)
      return fail(cell(Upper), "upper " + std::to_string(life.upper) + " is before lower " +
                                   std::to_string(life.lower));
    buffer.lifetime.push_back(life);
    if (buffer.bytes < 0)
      return fail(cell(Size), "size " + std::to_string(buffer.bytes) + " is negative");
    size_t firstWindow = windows.size();
    if (has(Gaps) && !readGaps(cell(Gaps), buffer))
      return false;
    if (!readPlace(buffer))
      return false;
    for (size_t i = firstWindow; i < windows.size(); ++i)
      windows[i].pools = buffer.pools;
    return true;
  }

  /// Where the buffer may be.
  bool readPlace(Buffer &buffer) {
    if (has(Alignment)) {
      if (!readNumber(Alignment, buffer.alignment))
        return false;
      if (buffer.alignment < 1)
        return fail(cell(Alignment),
                    "alignment " + std::to_string(buffer.alignment) + " is below 1");
    }
    if (has(Offset)) {
      if (!readNumber(Offset, buffer.offset.emplace()))
        return false;
      if (*buffer.offset < 0)
        return fail(cell(Offset), "offset " + std::to_string(*buffer.offset) + " is negative");
    }
    if (has(InPool))
      return readPool(cell(InPool), cell(InPool).text, buffer);
    if (!has(Pools))
      return true;
    constexpr std::string_view separators = " ,;|";
    std::string_view list = cell(Pools).text;
    for (size_t begin = 0; (begin = list.find_first_not_of(separators, begin)) != list.npos;) {
      size_t end = std::min(list.find_first_of(separators, begin), list.size());
      if (!readPool(cell(Pools), list.substr(begin, end - begin), buffer))
        return false;
      begin = end;
    }
    return true;
  }

  bool readNumber(Column column, int64_t &value) {
    const Cell &from = cell(column);
    const char *begin = from.text.data(), *end = begin + from.text.size();
    auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc() && stop == end)
      return true;
    std::string what(columnNames[column]);
    if (from.text.empty())
      return fail(from, what + " is empty");
    what += " " + quoted(from.text);
    if (error == std::errc::result_out_of_range && stop == end)
      return fail(from, what + " does not fit into 64 bits");
    return fail(from, what + " is no whole number");
  }

  /// The time after the last, whichever of them the column holds.
  bool readUpper(int64_t &upper) {
    if (!readNumber(Upper, upper))
      return false;
    if (__builtin_add_overflow(upper, afterLast, &upper))
      return fail(cell(Upper), "end " + quoted(cell(Upper).text) + " is the last time there is");
    return true;
  }

  static bool parse(std::string_view text, int64_t &value) {
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && stop == text.data() + text.size();
  }

  /// Cuts them out of the lifetime, of one interval so far.
  bool readGaps(const Cell &from, Buffer &buffer) {
    std::vector<Interval> &lifetime = buffer.lifetime;
    std::string_view list = from.text;
    for (size_t begin = 0; (begin = list.find_first_not_of(' ', begin)) != list.npos;) {
      size_t end = std::min(list.find(' ', begin), list.size());
      std::string_view text = list.substr(begin, end - begin);
      begin = end;
      size_t at = std::min(text.find('@'), text.size());
      // The first character may be the sign of the first number.
      size_t dash = text.find('-', 1);
      Interval gap, whole = lifetime.back();
      if (dash >= at || !parse(text.substr(0, dash), gap.lower) ||
          !parse(text.substr(dash + 1, at - dash - 1), gap.upper) ||
          __builtin_add_overflow(gap.upper, afterLast, &gap.upper))
        return fail(from, "gap " + quoted(text) + " must be two times such as 3-5");
      if (gap.upper < gap.lower || gap.lower < whole.lower || whole.upper < gap.upper)
        return fail(from, "gap " + quoted(text) +
                              " is not within the lifetime, or not after the gap before it");
      lifetime.back() = {whole.lower, gap.lower};
      lifetime.push_back({gap.upper, whole.upper});
      if (at < text.size() && !readWindow(from, text, text.substr(at + 1), gap, buffer))
        return false;
    }
    return true;
  }

  /// The bytes LOWER:UPPER that stay in use in a gap.
  bool readWindow(const Cell &from, std::string_view gap, std::string_view text, Interval life,
                  const Buffer &buffer) {
    size_t colon = text.find(':');
    int64_t lower = 0, upper = 0;
    if (colon == text.npos || !parse(text.substr(0, colon), lower) ||
        !parse(text.substr(colon + 1), upper))
      return fail(from, "gap " + quoted(gap) + " must keep bytes such as @64:128");
    if (lower < 0 || upper < lower || buffer.bytes < upper)
      return fail(from, "gap " + quoted(gap) + " keeps bytes that are not within the buffer");
    Buffer &window = windows.emplace_back();
    window.name = buffer.name + "@" + std::string(text);
    window.lifetime = {life};
    window.bytes = upper - lower;
    window.base = uint32_t(problem.buffers.size() - 1);
    window.delta = lower;
    return true;
  }

  bool readPool(const Cell &from, std::string_view name, Buffer &buffer) {
    auto it = std::find_if(problem.pools.begin(), problem.pools.end(),
                           [&](const Pool &pool) { return pool.name == name; });
    if (it == problem.pools.end())
      return fail(from, "pool " + quoted(name) + " is unknown");
    uint32_t pool = uint32_t(it - problem.pools.begin());
    if (std::find(buffer.pools.begin(), buffer.pools.end(), pool) != buffer.pools.end())
      return fail(from, "pool " + quoted(name) + " is there twice");
    buffer.pools.push_back(pool);
    return true;
  }

  Rows rows;
  Problem &problem;
  std::vector<Cell> cells;
  std::vector<Buffer> windows;              // that gaps leave in use
  std::array<size_t, numColumns> positions; // in `cells`
  size_t numCells = 0;
  int64_t afterLast = 0;                          // from what `upper` or `end` says
  std::unordered_map<std::string, size_t> lineOf; // by id
};

/// For a cell of its own making: names of pools may hold anything.
std::string escaped(const std::string &text) {
  if (text.find_first_of(",\"\r\n \t") == text.npos)
    return text;
  std::string result = "\"";
  for (char c : text)
    result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

} // namespace

std::optional<CsvFault> readCsv(std::string_view text, Problem &problem) {
  return Reader(text, problem).run();
}

std::string writeCsv(std::string_view text, const Problem &problem, const Plan &plan) {
  const char *lineEnd = text.find("\r\n") == text.npos ? "\n" : "\r\n";
  std::string result;
  Rows rows(text);
  std::vector<Cell> cells;
  size_t offsetAt = none, poolAt = none;
  for (size_t row = 0; rows.next(cells); ++row) {
    std::string offset(columnNames[Offset]), pool(columnNames[InPool]);
    if (row == 0) {
      for (size_t i = 0; i < cells.size(); ++i)
        if (cells[i].text == offset)
          offsetAt = i;
        else if (cells[i].text == pool)
          poolAt = i;
    } else {
      offset = std::to_string(plan.offsets[row - 1]);
      pool = escaped(problem.pools[plan.pools[row - 1]].name);
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      result += i > 0 ? "," : "";
      result += i == offsetAt ? offset : i == poolAt ? pool : std::string(cells[i].raw);
    }
    if (offsetAt == none)
      result += "," + offset;
    if (poolAt == none && problem.pools.size() > 1)
      result += "," + pool;
    result += lineEnd;
  }
  return result;
}

} // namespace plim::planner
