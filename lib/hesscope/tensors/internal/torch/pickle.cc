// SPDX-License-Identifier: BSD-3-Clause
//
// The machine is that of Python's Lib/pickletools.py; the opcodes have the names used there.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/internal/torch/pickle.h>
#include <hesscope/tensors/internal/torch/pickle_stack.h>

namespace hesscope::io {
namespace {

class PickleMachine {
 public:
  PickleMachine(const std::string& where, std::string bytes, const PickleLimits& limits)
      : limits_(limits),
        document_(std::move(bytes), limits.max_nodes),
        cursor_(where, document_.bytes()),
        stack_(cursor_, limits.max_nodes) {}

  PickleMachine(const PickleMachine&) = delete;
  PickleMachine& operator=(const PickleMachine&) = delete;

  PickleDocument run() && {
    check_protocol();
    while (document_.root() == kNoNode) {
      cursor_.begin_instruction();
      step(cursor_.take_number<std::uint8_t>());
    }
    cursor_.begin_instruction();
    if (cursor_.remaining() != 0) {
      cursor_.refuse("is damaged: {} bytes follow its end", cursor_.remaining());
    }
    return std::move(document_);
  }

 private:
  void check_protocol() {
    constexpr std::uint8_t kProto = 0x80;
    const auto opcode = cursor_.take_number<std::uint8_t>();
    const auto protocol = cursor_.take_number<std::uint8_t>();
    if (opcode != kProto || protocol < 2 || protocol > 5) {
      cursor_.refuse("is no pickle of protocol 2 to 5");
    }
  }

  void push(PickleIndex node) { stack_.push(node); }

  void push_container(PickleKind kind, std::span<const PickleIndex> elements = {}) {
    const PickleIndex node = document_.add(kind, cursor_.start());
    push(node);
    for (const PickleIndex element : elements) append(node, element);
  }

  void append(PickleIndex container, PickleIndex element) {
    if (!document_.append(container, element)) stack_.refuse_size();
  }

  void push_text(PickleKind kind, std::uint64_t size) {
    push(document_.add_text(kind, cursor_.take(size), cursor_.start()));
  }

  void push_integer(std::int64_t value) {
    push(document_.add_integer(PickleKind::kInteger, value, cursor_.start()));
  }

  /// Two's complement of any length.
  void push_long(std::int64_t size) {
    if (size < 0 || static_cast<std::uint64_t>(size) > limits_.max_integer_bytes) {
      cursor_.refuse(
          "has an integer of {} bytes; at most {} are read", size, limits_.max_integer_bytes);
    }
    const auto bytes = cursor_.take(static_cast<std::uint64_t>(size));
    if (bytes.size() > sizeof(std::int64_t)) {
      push(document_.add(PickleKind::kWideInteger, cursor_.start()));
      return;
    }
    const bool is_negative = !bytes.empty() && std::to_integer<int>(bytes.back()) >= 0x80;
    std::uint64_t value = is_negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = (value << 8) | std::to_integer<std::uint64_t>(bytes[i]);
    }
    push_integer(static_cast<std::int64_t>(value));
  }

  // Globals and objects created with them.

  void push_global() {
    const auto module = cursor_.take_line();
    const auto name = cursor_.take_line();
    push(document_.add_text(
        PickleKind::kGlobal, {module.data(), module.size() + name.size() - 1}, cursor_.start()));
  }

  void push_stack_global() {
    const PickleIndex name = stack_.pop();
    const PickleIndex module = stack_.pop();
    if (document_.kind(name) != PickleKind::kText || document_.kind(module) != PickleKind::kText) {
      cursor_.refuse("is damaged: a class or function is named by something else than texts");
    }
    push(document_.add_named(document_.text(module), document_.text(name), cursor_.start()));
  }

  bool is_builtin_set(PickleIndex callable) const {
    for (const std::string_view module : {"builtins", "__builtin__"}) {
      for (const std::string_view name : {"set", "frozenset"}) {
        if (document_.is_global(callable, module, name)) return true;
      }
    }
    return false;
  }

  void make_object(bool is_call) {
    const PickleIndex arguments = stack_.pop();
    const PickleIndex callable = stack_.pop();
    const PickleKind kind = document_.kind(callable);
    if (document_.kind(arguments) != PickleKind::kTuple ||
        (kind != PickleKind::kGlobal && kind != PickleKind::kObject)) {
      cursor_.refuse("is damaged: it would call {} with {}",
                     to_string(kind),
                     to_string(document_.kind(arguments)));
    }
    const std::size_t num_given = document_.num_elements(arguments);
    if (is_call && num_given == 0 && document_.is_global(callable, "collections", "OrderedDict")) {
      return push_container(PickleKind::kDict);
    }
    if (is_call && num_given == 1 && is_builtin_set(callable)) {
      const PickleIndex given = document_.elements(arguments).front();
      if (document_.kind(given) == PickleKind::kList) {
        return push_container(PickleKind::kSet, document_.elements(given));
      }
    }
    push(document_.add_object({callable, arguments, kNoNode, kNoNode}, cursor_.start()));
  }

  /// The container itself; for an object, the container with its contents, which thereby gets this
  /// kind.
  PickleIndex contents(PickleIndex node, PickleKind wanted) {
    PickleIndex container = node;
    if (document_.kind(node) == PickleKind::kObject) {
      PickledObject object = document_.object(node);
      if (object.contents == kNoNode) {
        object.contents = document_.add(wanted, cursor_.start());
        if (object.contents == kNoNode) stack_.refuse_size();
        document_.set_object(node, object);
      }
      container = object.contents;
    }
    if (document_.kind(container) != wanted) {
      cursor_.refuse("is damaged: it puts elements of {} into {}",
                     to_string(wanted),
                     to_string(document_.kind(container)));
    }
    return container;
  }

  void put_into(PickleKind kind, std::span<const PickleIndex> elements) {
    if (kind == PickleKind::kDict && elements.size() % 2 != 0) {
      cursor_.refuse("is damaged: a key of a dict has no value");
    }
    const PickleIndex container = contents(stack_.top(), kind);
    for (const PickleIndex element : elements) append(container, element);
  }

  void set_state() {
    const PickleIndex state = stack_.pop();
    const PickleIndex node = stack_.top();
    if (document_.kind(node) == PickleKind::kDict) return;
    if (document_.kind(node) != PickleKind::kObject) {
      cursor_.refuse("is damaged: it sets attributes of {}", to_string(document_.kind(node)));
    }
    PickledObject object = document_.object(node);
    if (object.state != kNoNode) cursor_.refuse("is damaged: it sets an object's attributes twice");
    object.state = state;
    document_.set_object(node, object);
  }

  void stop() {
    document_.set_root(stack_.pop());
    if (!stack_.is_empty()) cursor_.refuse("is damaged: it ends with something on its stack");
  }

  void step(std::uint8_t opcode);

  const PickleLimits& limits_;
  PickleDocument document_;
  PickleCursor cursor_;
  PickleStack stack_;
};

void PickleMachine::step(std::uint8_t opcode) {
  using enum PickleKind;
  switch (opcode) {
    case '.':  // STOP
      return stop();
    case '(':  // MARK
      return stack_.push_mark();
    case '0':  // POP: removes a mark if nothing is above it
      if (stack_.above_mark().empty()) {
        stack_.pop_to_mark();
      } else {
        stack_.pop();
      }
      return;
    case '1':  // POP_MARK
      stack_.pop_to_mark();
      return;
    case '2':  // DUP
      return push(stack_.top());
    case 'N':  // NONE
      return push(document_.add(kNone, cursor_.start()));
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      return push(document_.add_integer(kBool, opcode == 0x88 ? 1 : 0, cursor_.start()));
    case 'J':  // BININT
      return push_integer(cursor_.take_number<std::int32_t>());
    case 'K':  // BININT1
      return push_integer(cursor_.take_number<std::uint8_t>());
    case 'M':  // BININT2
      return push_integer(cursor_.take_number<std::uint16_t>());
    case 0x8a:  // LONG1
      return push_long(cursor_.take_number<std::uint8_t>());
    case 0x8b:  // LONG4
      return push_long(cursor_.take_number<std::int32_t>());
    case 'G':  // BINFLOAT
      return push(
          document_.add_real(cursor_.take_number<double, ByteOrder::kBig>(), cursor_.start()));
    case 'U':   // SHORT_BINSTRING: a text of Python 2
    case 0x8c:  // SHORT_BINUNICODE
      return push_text(kText, cursor_.take_number<std::uint8_t>());
    case 'T':  // BINSTRING: from Python 2
    case 'X':  // BINUNICODE
      return push_text(kText, cursor_.take_number<std::uint32_t>());
    case 0x8d:  // BINUNICODE8
      return push_text(kText, cursor_.take_number<std::uint64_t>());
    case 'C':  // SHORT_BINBYTES
      return push_text(kBytes, cursor_.take_number<std::uint8_t>());
    case 'B':  // BINBYTES
      return push_text(kBytes, cursor_.take_number<std::uint32_t>());
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      return push_text(kBytes, cursor_.take_number<std::uint64_t>());
    case ')':  // EMPTY_TUPLE
      return push_container(kTuple);
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      return push_container(kTuple, stack_.pop(opcode - 0x84U));
    case 't':  // TUPLE
      return push_container(kTuple, stack_.pop_to_mark());
    case ']':  // EMPTY_LIST
      return push_container(kList);
    case 'l':  // LIST
      return push_container(kList, stack_.pop_to_mark());
    case '}':  // EMPTY_DICT
      return push_container(kDict);
    case 0x8f:  // EMPTY_SET
      return push_container(kSet);
    case 0x91:  // FROZENSET
      return push_container(kSet, stack_.pop_to_mark());
    case 'a': {  // APPEND
      const PickleIndex element = stack_.pop();
      return put_into(kList, {&element, 1});
    }
    case 'e':  // APPENDS
      return put_into(kList, stack_.pop_to_mark());
    case 0x90:  // ADDITEMS
      return put_into(kSet, stack_.pop_to_mark());
    case 's': {  // SETITEM
      const PickleIndex value = stack_.pop();
      const PickleIndex key = stack_.pop();
      return put_into(kDict, std::array{key, value});
    }
    case 'u':  // SETITEMS
      return put_into(kDict, stack_.pop_to_mark());
    case 'c':  // GLOBAL
      return push_global();
    case 0x93:  // STACK_GLOBAL
      return push_stack_global();
    case 'R':  // REDUCE
      return make_object(true);
    case 0x81:  // NEWOBJ
      return make_object(false);
    case 0x92:  // NEWOBJ_EX: with keyword arguments
      stack_.pop();
      return make_object(false);
    case 'b':  // BUILD
      return set_state();
    case 'Q': {  // BINPERSID
      const PickleIndex identifier = stack_.pop();
      return push(document_.add_persistent(identifier, cursor_.start()));
    }
    case 'q':  // BINPUT
      return stack_.remember(cursor_.take_number<std::uint8_t>());
    case 'r':  // LONG_BINPUT
      return stack_.remember(cursor_.take_number<std::uint32_t>());
    case 0x94:  // MEMOIZE
      return stack_.remember();
    case 'h':  // BINGET
      return stack_.recall(cursor_.take_number<std::uint8_t>());
    case 'j':  // LONG_BINGET
      return stack_.recall(cursor_.take_number<std::uint32_t>());
    case 0x95:  // FRAME: the size of the next instructions
      if (cursor_.take_number<std::uint64_t>() > cursor_.remaining()) {
        cursor_.refuse("is truncated: a frame is longer than the rest");
      }
      return;
    default:
      cursor_.refuse("has the instruction {:#04x}, which torch.save does not write", opcode);
  }
}

}  // namespace

PickleDocument read_pickle(ByteStream& stream, const PickleLimits& limits) {
  const std::string where = stream.where();
  if (stream.remaining() > limits.max_bytes) {
    throw InputError(fmt::format("{} has {} bytes from byte 0 on; at most {} are read",
                                 where,
                                 stream.remaining(),
                                 limits.max_bytes));
  }
  std::string bytes(static_cast<std::size_t>(stream.remaining()), '\0');
  stream.read(std::as_writable_bytes(std::span(bytes)));
  stream.finish();
  return PickleMachine(where, std::move(bytes), limits).run();
}

}  // namespace hesscope::io
