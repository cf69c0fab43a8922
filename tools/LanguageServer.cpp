#include "tools/LanguageServer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace json = llvm::json;
using llvm::StringRef;

namespace plim::tools {

namespace {

constexpr int internalError = -32603;
/// The id of requests of our own: their answers say that all before them was read.
constexpr StringRef barrierId = "plimsoll-barrier";

std::string frameOf(json::Value message) {
  const std::string text = llvm::formatv("{0}", message).str();
  return "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

/// Takes messages out of a stream of bytes.
class Frames {
public:
  void append(const char *bytes, size_t count) { buffer.append(bytes, count); }

  /// A whole message with its header, and what it says; none: not there yet.
  std::optional<std::pair<std::string, json::Value>> next() {
    const size_t header = buffer.find("\r\n\r\n");
    if (header == std::string::npos)
      return std::nullopt;
    size_t length = 0;
    llvm::SmallVector<StringRef> lines;
    StringRef(buffer).take_front(header).split(lines, "\r\n");
    for (StringRef line : lines)
      if (line.consume_front_insensitive("content-length:") && line.trim().getAsInteger(10, length))
        length = 0;
    if (buffer.size() < header + 4 + length)
      return std::nullopt;
    std::string frame = buffer.substr(0, header + 4 + length);
    buffer.erase(0, frame.size());
    llvm::Expected<json::Value> value = json::parse(StringRef(frame).substr(header + 4));
    if (!value) {
      llvm::consumeError(value.takeError());
      return std::pair(std::move(frame), json::Value(nullptr));
    }
    return std::pair(std::move(frame), std::move(*value));
  }

private:
  std::string buffer;
};

bool writeAll(int descriptor, StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes = bytes.drop_front(size_t(count));
  }
  return true;
}

struct Document {
  std::string uri, language, text;
  int64_t version = 0;
  bool isOpen = false; // in the server that runs
};

class Supervisor {
public:
  Supervisor(int (*serve)(void *), void *context) : serve(serve), context(context) {}

  int run() {
    ::signal(SIGPIPE, SIG_IGN);
    if (!start())
      return 1;
    while (true) {
      // While a server gets to know what is open nothing else is taken from the editor.
      const bool takesMore = !barrier && toServer.empty() && inServer >= 0;
      pollfd waiting[] = {{takesMore ? STDIN_FILENO : -1, POLLIN, 0},
                          {fromServer, POLLIN, 0},
                          {toServer.empty() ? -1 : inServer, POLLOUT, 0}};
      if (::poll(waiting, 3, -1) < 0 && errno != EINTR)
        return 1;
      if (waiting[2].revents)
        writeSome();
      if (waiting[1].revents && !readServer()) {
        if (std::optional<int> status = serverEnded())
          return *status;
      }
      if (waiting[0].revents && !readEditor()) {
        ::close(std::exchange(inServer, -1)); // it sees the end of its input, too
        toServer.clear();
        isLeaving = true;
      }
    }
  }

private:
  bool start() {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
      return false;
    server = ::fork();
    if (server < 0)
      return false;
    if (server == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::signal(SIGPIPE, SIG_DFL);
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      for (int end : {in[0], in[1], out[0], out[1]})
        ::close(end);
      ::exit(serve(context));
    }
    ::close(in[0]);
    ::close(out[1]);
    inServer = in[1];
    fromServer = out[0];
    ::fcntl(inServer, F_SETFL, O_NONBLOCK);
    answers = Frames();
    return true;
  }

  void writeSome() {
    const ssize_t count = ::write(inServer, toServer.data(), toServer.size());
    if (count > 0)
      toServer.erase(0, size_t(count));
    else if (errno != EAGAIN && errno != EINTR)
      toServer.clear(); // it has ended: its output says so, too
  }

  /// False at the end of what the editor says.
  bool readEditor() {
    char piece[1 << 16];
    const ssize_t count = ::read(STDIN_FILENO, piece, sizeof piece);
    if (count <= 0)
      return count < 0 && errno == EINTR;
    requests.append(piece, size_t(count));
    while (!barrier) {
      auto message = requests.next();
      if (!message)
        break;
      hear(std::move(message->first), message->second);
    }
    return true;
  }

  /// Passes on what the editor says.
  void hear(std::string frame, const json::Value &message) {
    const json::Object *object = message.getAsObject();
    if (!object) {
      toServer += frame;
      return;
    }
    const StringRef method = object->getString("method").value_or("");
    if (method == "initialize")
      initialize = frame;
    else if (method == "exit")
      isLeaving = true;
    const json::Value *id = method.empty() ? nullptr : object->get("id");
    if (id)
      pending.emplace(textOf(*id), method.str());
    if (const json::Object *params = object->getObject("params"))
      if (const json::Object *item = params->getObject("textDocument"))
        if (noteDocument(method, *params, *item)) {
          if (id)
            answer(pending.extract(textOf(*id)));
          return;
        }
    toServer += frame;
  }

  /// Keeps the text of what is open. Is the message done with?
  bool noteDocument(StringRef method, const json::Object &params, const json::Object &item) {
    const std::string uri = item.getString("uri").value_or("").str();
    if (method == "textDocument/didClose" || method == "textDocument/didOpen")
      faults.erase(uri);
    if (method == "textDocument/didClose") {
      auto found = documents.find(uri);
      const bool isLeftOut = found != documents.end() && !found->second.isOpen;
      if (isLeftOut)
        publish(found->second, json::Array());
      documents.erase(uri);
      return isLeftOut;
    }
    if (method == "textDocument/didOpen") {
      documents[uri] = {uri, item.getString("languageId").value_or("mlir").str(),
                        item.getString("text").value_or("").str(),
                        item.getInteger("version").value_or(0), /*isOpen=*/true};
      return false;
    }
    auto found = documents.find(uri);
    if (found == documents.end())
      return false;
    Document &document = found->second;
    if (method == "textDocument/didChange") {
      // Upstream's server asks editors for whole texts.
      const json::Array *changes = params.getArray("contentChanges");
      if (const json::Object *last =
              changes && !changes->empty() ? changes->back().getAsObject() : nullptr)
        document.text = last->getString("text").value_or("").str();
      document.version = item.getInteger("version").value_or(document.version + 1);
      if (document.isOpen)
        return false;
      open(document);
      return true;
    }
    return !document.isOpen; // the server knows nothing of it
  }

  void open(Document &document) {
    document.isOpen = true;
    toServer += frameOf(json::Object{
        {"jsonrpc", "2.0"},
        {"method", "textDocument/didOpen"},
        {"params", json::Object{{"textDocument", json::Object{{"uri", document.uri},
                                                              {"languageId", document.language},
                                                              {"version", document.version},
                                                              {"text", document.text}}}}}});
  }

  /// False when the server has ended.
  bool readServer() {
    char piece[1 << 16];
    const ssize_t count = ::read(fromServer, piece, sizeof piece);
    if (count <= 0)
      return count < 0 && errno == EINTR;
    answers.append(piece, size_t(count));
    while (auto message = answers.next()) {
      const json::Object *object = message->second.getAsObject();
      const json::Value *id = object ? object->get("id") : nullptr;
      if (id && id->getAsString() == barrierId) {
        barrier.reset();
        replay();
        continue;
      }
      if (id)
        pending.erase(textOf(*id));
      // To an editor that has been answered already, the one that was started again says nothing new.
      if (isInitializing && id) {
        isInitializing = false;
        continue;
      }
      if (!writeAll(STDOUT_FILENO, message->first))
        return false;
    }
    return true;
  }

  /// An exit status, or nothing: another server runs.
  std::optional<int> serverEnded() {
    int status = 0;
    ::close(std::exchange(fromServer, -1));
    if (inServer >= 0)
      ::close(std::exchange(inServer, -1));
    toServer.clear();
    ::waitpid(server, &status, 0);
    const bool isExit = WIFEXITED(status);
    if (isLeaving || initialize.empty())
      return isExit ? WEXITSTATUS(status) : 1;
    const std::string how = isExit ? "with status " + std::to_string(WEXITSTATUS(status))
                                   : "by signal " + std::to_string(WTERMSIG(status));
    if (barrier && *barrier == "") // at its very start
      return 1;
    if (barrier)
      complain(documents.at(*barrier), how);
    while (!pending.empty())
      answer(pending.extract(pending.begin()));
    if (!start())
      return 1;
    if (barrier)
      faults[*barrier] = documents.at(*barrier).version;
    for (auto &[uri, document] : documents)
      document.isOpen = false;
    isInitializing = true;
    toServer = initialize + frameOf(json::Object{{"jsonrpc", "2.0"},
                                                 {"method", "initialized"},
                                                 {"params", json::Object()}});
    setBarrier("");
    return std::nullopt;
  }

  void setBarrier(std::string uri) {
    barrier = std::move(uri);
    toServer += frameOf(
        json::Object{{"jsonrpc", "2.0"}, {"id", barrierId}, {"method", "plimsoll/barrier"}});
  }

  /// Opens the next document, or goes on with what the editor says.
  void replay() {
    for (auto &[uri, document] : documents) {
      auto fault = faults.find(uri);
      if (document.isOpen || (fault != faults.end() && fault->second == document.version))
        continue;
      faults.erase(uri);
      open(document);
      setBarrier(uri);
      return;
    }
    while (!barrier) {
      auto message = requests.next();
      if (!message)
        return;
      hear(std::move(message->first), message->second);
    }
  }

  /// Tells the editor of a text that cannot be read.
  static void complain(const Document &document, const std::string &how) {
    publish(document,
            json::Array{json::Object{
                {"range", json::Object{{"start", json::Object{{"line", 0}, {"character", 0}}},
                                       {"end", json::Object{{"line", 0}, {"character", 1}}}}},
                {"severity", 1},
                {"source", "plimsoll"},
                {"message", "the parser of MLIR ended " + how +
                                " on this text; it is read again when it changes"}}});
  }

  static void publish(const Document &document, json::Array diagnostics) {
    writeAll(
        STDOUT_FILENO,
        frameOf(json::Object{{"jsonrpc", "2.0"},
                             {"method", "textDocument/publishDiagnostics"},
                             {"params", json::Object{{"uri", document.uri},
                                                     {"version", document.version},
                                                     {"diagnostics", std::move(diagnostics)}}}}));
  }

  using Requests = std::map<std::string, std::string>; // methods by id, as JSON
  static std::string textOf(const json::Value &id) { return llvm::formatv("{0}", id).str(); }

  /// In place of a server that will not.
  static void answer(Requests::node_type request) {
    json::Object text{{"jsonrpc", "2.0"}, {"id", *json::parse(request.key())}};
    if (request.mapped() == "shutdown")
      text["result"] = nullptr;
    else
      text["error"] =
          json::Object{{"code", internalError}, {"message", "the parser of MLIR ended"}};
    writeAll(STDOUT_FILENO, frameOf(std::move(text)));
  }

  int (*serve)(void *);
  void *context;
  pid_t server = -1;
  int inServer = -1, fromServer = -1;
  std::string toServer; // what it has not taken yet
  Frames requests, answers;
  std::string initialize;
  std::map<std::string, Document> documents;
  std::map<std::string, int64_t> faults; // the version that ended a server, by document
  Requests pending;
  /// What a server that was started again reads alone: a document, or nothing, its own start.
  std::optional<std::string> barrier;
  bool isInitializing = false, isLeaving = false;
};

} // namespace

int superviseLanguageServer(int (*serve)(void *), void *context) {
  return Supervisor(serve, context).run();
}

} // namespace plim::tools
