#include "devices/GpuCode.h"

#include "support/ByteStream.h"

#include <algorithm>

namespace plim::devices {
namespace {

constexpr std::string_view magic = "PLIMGPU2";
constexpr uint32_t maxWorkgroupMemory = INT32_MAX; // what drivers count in

/// ByteReader, and whether all integers were in the range of what they are read into.
class Fields {
public:
  explicit Fields(std::string_view bytes) : reader(bytes) {}

  uint32_t number(uint64_t limit = UINT32_MAX) {
    uint64_t value = reader.integer();
    inRange &= value <= limit;
    return value <= limit ? static_cast<uint32_t>(value) : 0;
  }
  bool flag() { return number(1) != 0; }
  int64_t integer() { return static_cast<int64_t>(reader.integer()); }

  ByteReader reader;
  bool inRange = true;
};

GpuArgument readArgument(Fields &in) {
  GpuArgument argument;
  argument.isTensor = in.flag();
  argument.bytes = in.number();
  argument.rank = in.number();
  argument.isRead = in.flag();
  argument.isWritten = in.flag();
  return argument;
}

GpuNumber readNumber(Fields &in) {
  GpuNumber number;
  number.kind = static_cast<GpuNumber::Kind>(in.number(GpuNumber::Maximum));
  number.a = in.integer();
  number.b = in.integer();
  return number;
}

GpuTemporary readTemporary(Fields &in) {
  GpuTemporary temporary;
  temporary.bytes = in.number();
  temporary.elementBytes = in.number();
  return temporary;
}

GpuWord readWord(Fields &in) {
  GpuWord word;
  word.number = in.number();
  word.bits = in.number();
  return word;
}

GpuKernel readKernel(Fields &in) {
  GpuKernel kernel;
  kernel.entry = in.reader.text();
  kernel.module = in.number();
  for (uint32_t &size : kernel.workgroupSize)
    size = in.number();
  in.reader.list(kernel.buffers, [&] { return in.number(); });
  in.reader.list(kernel.words, [&] { return readWord(in); });
  kernel.workgroups = in.number();
  kernel.iterations = in.number();
  kernel.workgroupMemory = in.number();
  return kernel;
}

void write(ByteWriter &out, const GpuArgument &argument) {
  out.integer(argument.isTensor);
  out.integer(argument.bytes);
  out.integer(argument.rank);
  out.integer(argument.isRead);
  out.integer(argument.isWritten);
}

void write(ByteWriter &out, const GpuNumber &number) {
  out.integer(number.kind);
  out.integer(static_cast<uint64_t>(number.a));
  out.integer(static_cast<uint64_t>(number.b));
}

void write(ByteWriter &out, const GpuTemporary &temporary) {
  out.integer(temporary.bytes);
  out.integer(temporary.elementBytes);
}

void write(ByteWriter &out, const GpuKernel &kernel) {
  out.text(kernel.entry);
  out.integer(kernel.module);
  for (uint32_t size : kernel.workgroupSize)
    out.integer(size);
  out.list(kernel.buffers, [&](uint32_t buffer) { out.integer(buffer); });
  out.list(kernel.words, [&](const GpuWord &word) {
    out.integer(word.number);
    out.integer(word.bits);
  });
  out.integer(kernel.workgroups);
  out.integer(kernel.iterations);
  out.integer(kernel.workgroupMemory);
}

bool isElementSize(uint32_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

/// What a driver takes as a name that ends with a zero.
bool isName(const std::string &text) { return !text.empty() && text.find('\0') == text.npos; }

bool isValid(const GpuArgument &argument) {
  return isElementSize(argument.bytes) &&
         (argument.isTensor || (argument.rank == 0 && !argument.isWritten));
}

bool isValid(const GpuCode &code, size_t position) {
  const GpuNumber &number = code.numbers[position];
  auto argument = [&]() -> const GpuArgument * {
    bool exists = number.a >= 0 && static_cast<uint64_t>(number.a) < code.arguments.size();
    return exists ? &code.arguments[static_cast<size_t>(number.a)] : nullptr;
  };
  auto isEarlier = [&](int64_t other) {
    return other >= 0 && static_cast<uint64_t>(other) < position;
  };
  switch (number.kind) {
  case GpuNumber::Constant:
    return true;
  case GpuNumber::Extent:
    return argument() && argument()->isTensor && number.b >= 0 &&
           number.b < static_cast<int64_t>(argument()->rank);
  case GpuNumber::Scalar:
    return argument() && !argument()->isTensor;
  case GpuNumber::Add:
  case GpuNumber::Subtract:
  case GpuNumber::Multiply:
  case GpuNumber::FloorDivide:
  case GpuNumber::CeilDivide:
  case GpuNumber::Remainder:
  case GpuNumber::Divide:
  case GpuNumber::Minimum:
  case GpuNumber::Maximum:
    return isEarlier(number.a) && isEarlier(number.b);
  }
  return false;
}

bool isValid(const GpuCode &code, const GpuTemporary &temporary) {
  return temporary.bytes < code.numbers.size() && isElementSize(temporary.elementBytes);
}

bool isValid(const GpuCode &code, const GpuKernel &kernel) {
  auto isBuffer = [&](uint32_t buffer) {
    return buffer < code.arguments.size()
               ? code.arguments[buffer].isTensor
               : buffer - code.arguments.size() < code.temporaries.size();
  };
  auto isWord = [&](const GpuWord &word) {
    return word.number < code.numbers.size() && (word.bits == 32 || word.bits == 64);
  };
  return isName(kernel.entry) && kernel.module < code.modules.size() &&
         std::ranges::count(kernel.workgroupSize, 0u) == 0 &&
         std::ranges::all_of(kernel.buffers, isBuffer) &&
         std::ranges::all_of(kernel.words, isWord) && kernel.workgroups < code.numbers.size() &&
         kernel.iterations < code.numbers.size() &&
         kernel.workgroupMemory <= (code.kind == GpuCodeKind::Ptx ? maxWorkgroupMemory : 0);
}

bool isValid(GpuCodeKind kind, const std::string &module) {
  return kind == GpuCodeKind::Ptx ? isName(module) : !module.empty() && module.size() % 4 == 0;
}

Status fault(const char *what, size_t position) {
  return dataLossError("GPU code: " + std::string(what) + " #" + std::to_string(position) +
                       " is not valid");
}

} // namespace

Status verify(const GpuCode &code) {
  if (code.kind > GpuCodeKind::Ptx || code.maxElements < 0)
    return dataLossError("GPU code: an unknown kind, or a negative limit");
  for (size_t i = 0; i < code.arguments.size(); ++i)
    if (!isValid(code.arguments[i]))
      return fault("argument", i);
  for (size_t i = 0; i < code.numbers.size(); ++i)
    if (!isValid(code, i))
      return fault("number", i);
  for (size_t i = 0; i < code.temporaries.size(); ++i)
    if (!isValid(code, code.temporaries[i]))
      return fault("temporary", i);
  for (size_t i = 0; i < code.kernels.size(); ++i)
    if (!isValid(code, code.kernels[i]))
      return fault("kernel", i);
  for (size_t i = 0; i < code.modules.size(); ++i)
    if (!isValid(code.kind, code.modules[i]))
      return fault("module", i);
  return okStatus();
}

std::string encode(const GpuCode &code) {
  ByteWriter out;
  out.bytes = magic;
  out.integer(static_cast<uint64_t>(code.kind));
  out.list(code.features, [&](const std::string &feature) { out.text(feature); });
  out.integer(static_cast<uint64_t>(code.maxElements));
  out.list(code.arguments, [&](const GpuArgument &argument) { write(out, argument); });
  out.list(code.numbers, [&](const GpuNumber &number) { write(out, number); });
  out.list(code.temporaries, [&](const GpuTemporary &temporary) { write(out, temporary); });
  out.list(code.kernels, [&](const GpuKernel &kernel) { write(out, kernel); });
  out.list(code.modules, [&](const std::string &module) { out.text(module); });
  return std::move(out.bytes);
}

StatusOr<GpuCode> decodeGpuCode(std::string_view bytes) {
  if (!bytes.starts_with(magic))
    return dataLossError("no GPU code, or of another version");
  Fields in(bytes.substr(magic.size()));
  GpuCode code;
  code.kind = static_cast<GpuCodeKind>(in.number(static_cast<uint64_t>(GpuCodeKind::Ptx)));
  in.reader.list(code.features, [&] { return in.reader.text(); });
  code.maxElements = in.integer();
  in.reader.list(code.arguments, [&] { return readArgument(in); });
  in.reader.list(code.numbers, [&] { return readNumber(in); });
  in.reader.list(code.temporaries, [&] { return readTemporary(in); });
  in.reader.list(code.kernels, [&] { return readKernel(in); });
  in.reader.list(code.modules, [&] { return in.reader.text(); });
  if (!in.reader.atEnd() || !in.inRange)
    return dataLossError("GPU code: damaged");
  PLIM_RETURN_IF_ERROR(verify(code));
  return code;
}

} // namespace plim::devices
