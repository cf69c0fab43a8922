#include "jit/Exporter.h"

#include "support/CheckedMath.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace plim::jit {

namespace {

/// Keywords, and words that compilers define.
bool isKeyword(StringRef word) {
  static const StringSet<> keywords = {
      "alignas",     "alignof",      "and",       "and_eq",
      "asm",         "auto",         "bitand",    "bitor",
      "bool",        "break",        "case",      "catch",
      "char",        "char16_t",     "char32_t",  "char8_t",
      "class",       "co_await",     "co_return", "co_yield",
      "compl",       "concept",      "const",     "const_cast",
      "consteval",   "constexpr",    "constinit", "continue",
      "decltype",    "default",      "delete",    "do",
      "double",      "dynamic_cast", "else",      "enum",
      "explicit",    "export",       "extern",    "false",
      "float",       "for",          "friend",    "goto",
      "if",          "inline",       "int",       "linux",
      "long",        "mutable",      "namespace", "new",
      "noexcept",    "not",          "not_eq",    "nullptr",
      "operator",    "or",           "or_eq",     "private",
      "protected",   "public",       "register",  "reinterpret_cast",
      "requires",    "restrict",     "return",    "short",
      "signed",      "sizeof",       "static",    "static_assert",
      "static_cast", "struct",       "switch",    "template",
      "this",        "thread_local", "throw",     "true",
      "try",         "typedef",      "typeid",    "typename",
      "typeof",      "union",        "unix",      "unsigned",
      "using",       "virtual",      "void",      "volatile",
      "wchar_t",     "while",        "xor",       "xor_eq"};
  return keywords.contains(word);
}

/// Names in one scope: what comes in, as C can have it, and no two alike.
class Names {
public:
  std::string take(StringRef wanted, const Twine &otherwise) {
    std::string name = wanted.empty() ? otherwise.str() : wanted.str();
    for (char &c : name)
      if (!isAlnum(c))
        c = '_';
    if (isDigit(name[0]))
      name.insert(0, "_");
    if (isReservedInC(name))
      name += '_';
    if (isReservedInC(name)) // whatever stands behind it: NULL_, _Bool_
      name.insert(0, "v");
    while (!taken.insert(name).second)
      name += '_';
    return name;
  }

private:
  std::set<std::string> taken;
};

StringRef elementInC(StringRef element) {
  return StringSwitch<StringRef>(element)
      .Case("f32", "float")
      .Case("f64", "double")
      .Cases({"i1", "ui8", "f8E4M3FN", "f8E5M2"}, "uint8_t")
      .Cases({"f16", "bf16"}, "uint16_t")
      .Cases({"i64", "index"}, "int64_t")
      .Case("complex<f32>", "float")
      .Case("complex<f64>", "double")
      .Default(element.starts_with("i") && element.drop_front().size() < 2 ? "int8_t"
               : element == "i16"                                          ? "int16_t"
                                                                           : "int32_t");
}

/// What the type does not tell.
StringRef remarkOn(StringRef element) {
  return StringSwitch<StringRef>(element)
      .Case("i1", ", each 0 or 1")
      .Cases({"f16", "bf16", "f8E4M3FN", "f8E5M2"}, ", the bits of each")
      .Cases({"complex<f32>", "complex<f64>"}, ", each a real and an imaginary part")
      .Default("");
}

std::string described(const ValueType &type) {
  std::string text;
  for (int64_t extent : type.shape)
    text += (extent == -1 ? "?" : std::to_string(extent)) + " x ";
  text += type.element;
  for (const auto &[d, bounds] : enumerate(type.bounds))
    if (bounds != ExtentBounds())
      text += ", extent " + std::to_string(d) + " of " + toString(bounds);
  if (!type.strides.empty()) {
    text += ", strides in elements";
    for (int64_t stride : type.strides)
      text += " " + std::to_string(stride);
  }
  return text + remarkOn(type.element).str();
}

std::string upper(StringRef name) { return name.upper(); }

class HeaderWriter {
public:
  HeaderWriter(const Artifact &artifact, const std::vector<ExternalTypes> &externals,
               const std::vector<ExportedContext> &contexts,
               const targets::TargetDescription &target, std::string_view name)
      : artifact(artifact), externals(externals), contexts(contexts), target(target), name(name),
        macro(upper(name)), structs(exportedStructs(artifact)), out(text) {}

  StatusOr<std::string> write(const std::vector<std::string> &undefined) {
    for (const FunctionSignature &function : artifact.functions)
      take(exportedSymbol(name, function.name));
    begin(undefined);
    writeStatus();
    writeWorkspaces();
    writeData(DataKind::Parameter, "parameters", "What the module leaves to be bound.");
    writeData(DataKind::Variable, "state",
              "What the module keeps from call to call. One call at a time may use it.");
    if (structs.variables > 0)
      out << "/* Gives the state what it begins with. */\nvoid " << name << "_reset(const struct "
          << name << "_state *state);\n\n";
    writeDevices();
    writeThreads();
    for (const auto &[external, types] : zip_equal(artifact.externals, externals))
      if (external.device.empty())
        writeExternal(external, types);
    for (const auto &[function, context] : zip_equal(artifact.functions, contexts))
      writeFunction(function, context);
    out << "#ifdef __cplusplus\n}\n#endif\n#endif /* " << macro << "_EXPORT_H_" << " */\n";
    if (!clash.empty())
      return invalidArgumentError("the header would have '" + clash +
                                  "' twice: names that differ in case or in signs alone");
    return std::move(text);
  }

private:
  void begin(const std::vector<std::string> &undefined) {
    out << "/* " << name << ": compiled from " << commentable(artifact.source) << " for "
        << commentable(target.name) << " (" << artifact.triple << ").\n"
        << " *\n"
        << " * Functions may be called by several threads at once, each with memory of its own. "
           "They\n"
        << " * allocate nothing, keep nothing but the state, and use no more stack than is said, "
           "beside\n"
        << " * what functions of the program use.\n"
        << " * Buffers of a call do not overlap, and are aligned as their elements.\n";
    if (!undefined.empty()) {
      out << " *\n * The program brings:";
      for (const std::string &symbol : undefined)
        out << " " << symbol;
      out << "\n";
    }
    take(macro + "_EXPORT_H_");
    out << " */\n#ifndef " << macro << "_EXPORT_H_\n#define " << macro
        << "_EXPORT_H_\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
        << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  }

  void writeStatus() {
    out << "/* What a function returns. */\nenum " << name << "_status {\n";
    for (auto code : {StatusCode::Ok, StatusCode::InvalidArgument, StatusCode::ResourceExhausted,
                      StatusCode::FailedPrecondition, StatusCode::OutOfRange,
                      StatusCode::Unavailable, StatusCode::Internal})
      out << "  " << take(macro + "_" + macroOf(statusCodeName(code))) << " = "
          << static_cast<int>(code) << ",\n";
    out << "};\n\n";
  }

  static std::string macroOf(std::string_view words) {
    std::string result = upper(StringRef(words.data(), words.size()));
    for (char &c : result)
      if (!isAlnum(c))
        c = '_';
    return result;
  }

  /// Nothing that ends a comment.
  static std::string commentable(StringRef text) {
    std::string result;
    for (char c : text)
      result += isPrint(c) && c != '*' ? c : '_';
    return result;
  }

  /// A name of the whole header: each once.
  const std::string &take(const std::string &called) {
    const auto [known, isNew] = names.insert(called);
    if (!isNew && clash.empty())
      clash = called;
    return *known;
  }

  void defineMacro(const Twine &what, int64_t value) {
    out << "#define " << take((Twine(macro) + "_" + what).str()) << " " << value << "\n";
  }

  void writeWorkspaces() {
    if (!structs.hasWorkspaces())
      return;
    Names names;
    std::string fields;
    raw_string_ostream body(fields);
    auto field = [&](StringRef called, const std::string &where, const PoolNeed &need) {
      const std::string member = names.take(called, "pool");
      if (need.bytes > 0)
        defineMacro(Twine(upper(member)) + "_BYTES", need.bytes);
      defineMacro(Twine(upper(member)) + "_ALIGNMENT", need.alignment);
      defineMacro(Twine(upper(member)) + "_SECTION", StringRef(where));
      body << "  void *" << member << ";\n";
    };
    const std::vector<std::string> reached = reachedMemories();
    if (structs.slab)
      field("workspace", ".bss." + (reached.empty() ? "workspace" : reached[0]),
            {structs.slabBytes, std::max<int64_t>(target.devices[0].workspaceAlignment, 64)});
    if (structs.slabIsOpen)
      body << "  /* At least what the query of a function says, for those that have one. */\n"
              "  size_t "
           << names.take("workspace_bytes", "") << ";\n";
    for (const auto &[i, pool] : enumerate(structs.pools))
      field(artifact.pools[pool], ".bss." + artifact.pools[pool], structs.poolNeeds[i]);
    out << "\n/* Memory for buffers that live during a call only: so many bytes, so aligned, in "
           "the memory\n"
        << " * of that name. The section is a hint for the linker. */\nstruct " << name
        << "_workspaces {\n"
        << fields << "};\n\n";
  }

  /// Memories that can be written, and that the host and all accelerators that run something reach: those beside the
  /// processor, which are named scratch, first.
  std::vector<std::string> reachedMemories() const {
    using enum targets::MemoryKind;
    auto isReached = [&](const targets::MemoryDescription &memory) {
      auto reaches = [&](const std::string &device) {
        return is_contained(memory.accessibleBy, device);
      };
      return memory.kind != Flash && memory.kind != Stack && reaches(target.devices[0].name) &&
             all_of(structs.devices, reaches) &&
             (memory.bytes == 0 || memory.bytes >= structs.slabBytes);
    };
    std::vector<std::string> names;
    for (bool isScratch : {true, false})
      for (const targets::MemoryDescription &memory : target.memories)
        if ((memory.kind == Scratch) == isScratch && isReached(memory))
          names.push_back(memory.name);
    return names;
  }

  void defineMacro(const Twine &what, StringRef value) {
    out << "#define " << take((Twine(macro) + "_" + what).str()) << " \"" << value << "\"\n";
  }

  void writeData(DataKind kind, StringRef what, StringRef about) {
    const auto isThere = [&](const DataSymbol &symbol) { return symbol.kind == kind; };
    if (none_of(artifact.symbols, isThere))
      return;
    Names names;
    std::string fields;
    for (const DataSymbol &symbol : artifact.symbols) {
      if (!isThere(symbol))
        continue;
      const std::string member = names.take(symbol.name, "data");
      defineMacro(Twine(upper(what)) + "_" + upper(member) + "_BYTES", symbol.bytes);
      fields +=
          (Twine("  ") + (kind == DataKind::Parameter ? "const " : "") +
           elementInC(symbol.type.element) + " *" + member + "; /* " + described(symbol.type) +
           (symbol.alignment > 0 ? Twine(", aligned to ") + Twine(symbol.alignment) : Twine("")) +
           " */\n")
              .str();
    }
    out << "\n/* " << about << " */\nstruct " << name << "_" << what << " {\n"
        << fields << "};\n\n";
  }

  void writeDevices() {
    if (structs.devices.empty())
      return;
    Names names;
    out << "/* An accelerator, filled in by the program. Each function gets the context and "
           "returns 0 or an error\n"
           " * of its own, which the call then returns. All but run may be NULL. A call activates "
           "the devices before\n"
           " * anything else and deactivates them in the end. */\nstruct "
        << name
        << "_device {\n"
           "  void *context;\n"
           "  int32_t (*open)(void *context);\n"
           "  int32_t (*activate)(void *context);\n"
           "  /* Runs code of the device's compiler, to its end, on the buffers of its arguments, "
           "then of its results. */\n"
           "  int32_t (*run)(void *context, const void *code, size_t code_bytes, void *const "
           "*buffers,\n"
           "                 size_t buffer_count);\n"
           "  int32_t (*deactivate)(void *context);\n"
           "  int32_t (*close)(void *context);\n"
           "};\nstruct "
        << name << "_devices {\n";
    for (const std::string &device : structs.devices)
      out << "  struct " << name << "_device " << names.take(device, "device") << ";\n";
    out << "};\n/* Opens the devices; closes them again if one fails. */\nenum " << name
        << "_status " << name << "_open(const struct " << name << "_devices *devices);\nenum "
        << name << "_status " << name << "_close(const struct " << name
        << "_devices *devices);\n\n";
  }

  void writeThreads() {
    if (none_of(contexts, [](const ExportedContext &context) { return context.threads; }))
      return;
    const int64_t scratch = contexts[0].threadScratchBytes;
    out << "/* Threads of the program, for functions that take them: NULL for the calling one "
           "alone. "
           "The results\n"
           " * are the same. */\nstruct "
        << name
        << "_threads {\n"
           "  void *context;\n"
           "  /* Calls work(argument, thread, begin, end) for ranges that are [0, count) together, "
           "on threads of\n"
           "   * which no two have one number at a time, and comes back when all have ended: with "
           "0, or a status of\n"
           "   * work that was not. A thread needs as much stack as the function. */\n"
           "  int32_t (*run)(void *context,\n"
           "                 int32_t (*work)(void *argument, size_t thread, int64_t begin, int64_t "
           "end),\n"
           "                 void *argument, int64_t count);\n";
    if (scratch > 0)
      out << "  /* For each number of a thread, aligned as workspaces. */\n  void *scratch;\n";
    out << "};\n";
    if (scratch > 0)
      defineMacro("THREAD_SCRATCH_BYTES", scratch);
    out << "\n";
  }

  /// One parameter of C and what is said of it.
  void describe(const ValueType &type, const std::string &called, bool isConst, bool isPointer,
                const Twine &remark, std::vector<std::string> &parameters,
                std::vector<std::string> &about) {
    parameters.push_back((Twine(isConst && isPointer ? "const " : "") + elementInC(type.element) +
                          (isPointer ? " *" : " ") + called)
                             .str());
    about.push_back((Twine(" *   ") + called + ": " + described(type) + remark).str());
  }

  /// Parameters for the extents that are not known here: what they are, or places for them.
  static void addExtents(const ValueType &type, const std::string &called, Names &names,
                         std::vector<std::string> &parameters, StringRef pointer = "") {
    for (const auto &[d, extent] : enumerate(type.shape))
      if (extent == -1)
        parameters.push_back(
            (Twine("int64_t ") + pointer + names.take(called + "_extent" + utostr(d), "")).str());
  }

  /// Of a tensor whose extents are known or bounded.
  static std::optional<int64_t> mostElements(const ValueType &type) {
    std::optional<int64_t> count = 1;
    for (const auto &[d, extent] : enumerate(type.shape)) {
      const int64_t most = extent != -1          ? extent
                           : type.bounds.empty() ? ExtentBounds().max
                                                 : type.bounds[d].max;
      if (most == ExtentBounds().max || !(count = plim::checkedMul(*count, most)))
        return std::nullopt;
    }
    return count;
  }

  /// What the module calls: the program has it.
  void writeExternal(const ExternalFunction &external, const ExternalTypes &types) {
    Names names;
    std::vector<std::string> parameters, about;
    std::set<uint32_t> donated;
    for (const auto &[i, type] : enumerate(types.arguments)) {
      if (type.donatedTo)
        donated.insert(*type.donatedTo);
      const std::string called = names.take("", "argument" + Twine(i));
      describe(type, called, !type.donatedTo && type.access == Access::ReadOnly, type.isShaped,
               type.donatedTo ? Twine(", becomes result ") + Twine(*type.donatedTo) : Twine(""),
               parameters, about);
      addExtents(type, called, names, parameters);
    }
    for (const auto &[i, type] : enumerate(types.results))
      if (!donated.contains(uint32_t(i)))
        describe(type, names.take("", "result" + Twine(i)), false, true, ", to be written",
                 parameters, about);
    out << "/* @" << commentable(external.name)
        << ", which the program defines and the module calls. Returns 0, or a\n"
        << " * status that fails the call:\n";
    for (const std::string &line : about)
      out << line << "\n";
    out << " */\nint32_t " << applicationSymbol(external.name) << "("
        << (parameters.empty() ? "void" : join(parameters, ",\n    ")) << ");\n\n";
  }

  void writeFunction(const FunctionSignature &function, const ExportedContext &has) {
    const std::string symbol = exportedSymbol(name, function.name);
    const std::string prefix = upper(StringRef(symbol).drop_front(name.size() + 1));
    Names names;
    std::vector<std::string> parameters, about;
    auto context = [&](bool isThere, StringRef what) {
      if (isThere)
        parameters.push_back(
            (Twine("const struct ") + name + "_" + what + " *" + names.take(what, what)).str());
    };
    context(has.workspaces, "workspaces");
    context(has.parameters, "parameters");
    context(has.state, "state");
    context(has.devices, "devices");
    context(has.threads, "threads");
    auto add = [&](const ValueType &type, const std::string &called, bool isConst, bool isPointer,
                   const Twine &remark) {
      describe(type, called, isConst, isPointer, remark, parameters, about);
      if (std::optional<int64_t> most = type.isShaped ? mostElements(type) : std::nullopt)
        defineMacro(Twine(prefix) + "_" + upper(called) +
                        (openExtents(type) > 0 ? "_MOST_ELEMENTS" : "_ELEMENTS"),
                    *most);
    };
    std::set<uint32_t> donated;
    std::vector<std::string> queried;
    for (const auto &[i, type] : enumerate(function.arguments)) {
      if (type.donatedTo)
        donated.insert(*type.donatedTo);
      const bool isConst = !type.donatedTo && type.access == Access::ReadOnly;
      const std::string called = names.take(type.name, "argument" + Twine(i));
      add(type, called, isConst, type.isShaped,
          type.donatedTo                     ? Twine(", becomes result ") + Twine(*type.donatedTo)
          : isConst || !type.isShaped        ? Twine("")
          : type.access == Access::WriteOnly ? Twine(", is written")
                                             : Twine(", is read and written"));
      if (isQueried(type))
        queried.push_back(parameters.back());
      const size_t before = parameters.size();
      addExtents(type, called, names, parameters);
      queried.insert(queried.end(), parameters.begin() + std::ptrdiff_t(before), parameters.end());
    }
    for (const auto &[i, type] : enumerate(function.results)) {
      const bool isOpen = openExtents(type) > 0;
      const std::string called = names.take("", "result" + Twine(i));
      if (!donated.contains(uint32_t(i))) {
        add(type, called, false, true,
            isOpen ? ", is written, and so are its extents, to places of their own; with room for "
                     "as many elements as its capacity"
                   : ", is written");
        if (isOpen)
          parameters.push_back("int64_t " + names.take(called + "_capacity", ""));
      }
      addExtents(type, called, names, parameters, "*");
    }
    if (isSlabOpen(function)) {
      queried.push_back("size_t *bytes");
      const std::string query = symbol + std::string(workspaceQuerySuffix);
      out << "/* The bytes that " << symbol << "() needs of the workspace. */\nenum " << name
          << "_status " << take(query) << "(" << join(queried, ",\n    ") << ");\n\n";
    }
    defineMacro(Twine(prefix) + "_STACK_BYTES", function.stackBytes);
    out << "/* @" << commentable(function.name);
    if (!function.location.empty())
      out << ", " << commentable(StringRef(function.location).rtrim(": "));
    out << ":\n";
    for (const std::string &line : about)
      out << line << "\n";
    out << " */\nenum " << name << "_status " << symbol << "("
        << (parameters.empty() ? "void" : join(parameters, ",\n    ")) << ");\n\n";
  }

  const Artifact &artifact;
  const std::vector<ExternalTypes> &externals;
  const std::vector<ExportedContext> &contexts;
  const targets::TargetDescription &target;
  const std::string name, macro;
  const ExportedStructs structs;
  std::set<std::string> names; // macros, enumerators and functions
  std::string clash;           // the first that is there twice
  std::string text;
  raw_string_ostream out;
};

} // namespace

bool isReservedInC(std::string_view name) {
  const StringRef word(name.data(), name.size());
  // Types of headers, macros, and what compilers keep for themselves.
  const bool isMacro = word.size() > 1 && word.find_if(isAlpha) != StringRef::npos &&
                       none_of(word, [](char c) { return isLower(c); });
  return isKeyword(word) || word.ends_with("_t") || isMacro || word.starts_with("__") ||
         (word.size() > 1 && word[0] == '_' && isUpper(word[1]));
}

StatusOr<std::string>
exportHeader(const Artifact &artifact, const std::vector<ExternalTypes> &externals,
             const std::vector<ExportedContext> &contexts, const targets::TargetDescription &target,
             std::string_view exportName, const std::vector<std::string> &undefined) {
  return HeaderWriter(artifact, externals, contexts, target, exportName).write(undefined);
}

} // namespace plim::jit
