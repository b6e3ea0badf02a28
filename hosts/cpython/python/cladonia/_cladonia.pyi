from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar, Self, TypeAlias, TypedDict, final

class NotCompiled(Exception): ...

class ExitRecord(TypedDict):
    """An exit from machine code of a function to the interpreter."""
    line: int  #: -1 for an instruction without a line.
    reason: str
    count: int

class UnitRecord(TypedDict):
    """A unit of machine code that may be entered."""
    number: int
    kind: str  #: "function", "generator" or "loop".
    line: int  #: The first line of the function or the loop.
    bytes: int
    entries: int
    iterations: int
    exits: int
    compile_seconds: float

class FunctionRecord(TypedDict):
    """The record of a function: of its code object, for all functions created from it."""
    name: str  #: The qualified name.
    file: str
    line: int
    function: Callable[..., Any] | None  #: One of them, if its calls ever ran as machine code.
    code: int | None  #: Its index in `Recorded["codes"]`, during a recording.
    native: bool  #: True if a call of it enters machine code now.
    compiled: bool  #: True if there ever was machine code.
    refused: str | None
    loops_refused: str | None
    interpreted_calls: int  #: Those that were counted: code that is not hot is not counted.
    fallbacks: int  #: Calls from machine code that the interpreter ran.
    entries: int
    iterations: int
    mismatches: int  #: Calls with arguments that its machine code does not accept.
    gain_seconds: float  #: An estimate.
    versions: int  #: Units compiled during the recording, loops included; without one, the units that exist.
    compile_seconds: float  #: Of those that were recorded.
    code_bytes: int  #: Of those that were recorded.
    exits: list[ExitRecord]
    invalidated: dict[str, int]  #: Of those that were recorded, by reason.
    units: list[UnitRecord]

class LiveCounters(TypedDict):
    """Counters of the process. They only grow, except `on`, `units_live`, `units_waiting`, `queue` and `code_bytes`."""
    on: bool
    units: int
    units_live: int
    units_waiting: int
    invalidated: int
    exits: int
    entries: int
    iterations: int
    interpreted_calls: int
    interpreted_iterations: int
    queue: int
    compile_seconds: float
    compile_beside_seconds: float
    longest_stall_seconds: float
    code_bytes: int
    refused: int

class EventRecord(TypedDict):
    at: float  #: Seconds since the start of the recording; for an event with a duration, its end.
    took: float
    kind: str  #: "compiled", "installed", "invalidated", "refused" or "collected".
    code: int | None
    unit: int | None
    text: str

class MetRecord(TypedDict):
    """Operands of an instruction at which machine code exited because a guard on them failed."""
    code: int
    pc: int  #: The position in the typed bytecode.
    line: int
    reason: str
    classes: list[str]  #: The deeper operand's first.
    count: int

class Ticks(TypedDict):
    seconds: float  #: The length of one.
    doing: list[list[int]]
    exits: list[int]

class Collections(TypedDict):
    count: int
    seconds: float

class Recorded(TypedDict):
    """A recording. Times of samples are whole periods, so sums are exact: those of `tree` and of `ticks` are `periods`."""
    seconds: float
    period: float
    not_sampled: str | None  #: The reason why there are no samples.
    samples: int
    periods: int
    lost: int  #: Periods that were lost for lack of room.
    cut: int  #: Samples of stacks that are too deep to be kept whole.
    loop_known: bool  #: True if the interpreter's loop can be distinguished from its other code.
    doing: list[str]  #: The meaning of the numbers of a node and a tick.
    codes: list[tuple[str, str, int]]  #: Name, file and line; libraries have a name only.
    tree: list[tuple[int, int, bool | None, list[int]]]  #: Parent, code, native? (None: a library), own periods. The first is the root.
    lines: list[tuple[int, int, bool, int]]  #: Code, line, native?, periods.
    ticks: Ticks
    events: list[EventRecord]
    events_lost: int
    met: list[MetRecord]
    met_lost: int
    collections: Collections
    functions: list[FunctionRecord]

def available() -> str | None: ...
def enable(threshold: int | None, force_exit: str | None, oracle: bool, without: str | None, check_facts: bool,
           compile_threads: int | None, cache: bytes | None) -> None: ...
def disable() -> None: ...
def compile(f: Callable[..., Any]) -> None: ...
def is_compiled(f: Callable[..., Any]) -> bool: ...
def why_not(f: Callable[..., Any]) -> str | None: ...
def stats() -> dict[str, Any]: ...
def functions() -> list[FunctionRecord]: ...
def live() -> LiveCounters: ...
def observe(samples: bool) -> None: ...
def observed() -> Recorded | None: ...
def choose(only: str, left_out: str) -> None: ...
def advise(f: Callable[..., Any]) -> None: ...
def soon(f: Callable[[], Any]) -> None: ...
def name_code(map: bool, dump: str | None, debugger: bool) -> None: ...
def render(template: str, context: dict[str, Any]) -> str: ...
def inspect(f: Callable[..., Any]) -> dict[str, str]: ...
def record() -> None: ...
def recorded() -> str: ...
def export(code: CodeType) -> str: ...
def annotate(f: Callable[..., Any], types: str, classes: tuple[type, ...]) -> str: ...
def dump(f: Callable[..., Any], stage: str) -> str: ...
def compile_program(source: bytes, filename: str, has_cookie: bool) -> CodeType: ...
def type_class() -> type[Type]: ...

# Inside the class, `Type` is the predefined type of classes.
_Set: TypeAlias = "Type"

@final
class Type:
    """A set of values, as the compiler represents it."""

    @staticmethod
    def of(obj: object, /) -> _Set: ...
    @staticmethod
    def of_class(cls: type, exact: bool = False) -> _Set: ...
    @staticmethod
    def parse(text: str, /) -> _Set: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __le__(self, other: _Set, /) -> bool: ...
    def __lt__(self, other: _Set, /) -> bool: ...
    def __ge__(self, other: _Set, /) -> bool: ...
    def __gt__(self, other: _Set, /) -> bool: ...
    def __or__(self, other: _Set, /) -> _Set: ...
    def __and__(self, other: _Set, /) -> _Set: ...
    def __sub__(self, other: _Set, /) -> _Set: ...
    def could_be(self, other: _Set, /) -> bool: ...
    def join(self, other: _Set, /) -> _Set: ...
    def unique_class(self) -> type | None: ...
    def runtime_class(self) -> type | None: ...
    def is_exact(self) -> bool: ...
    def is_single_value(self) -> bool: ...
    def as_object(self) -> Any: ...
    def as_primitive(self) -> bool | int | float | None: ...
    def has_value_spec(self) -> bool: ...
    def is_specialized(self) -> bool: ...
    def unspecialized(self) -> _Set: ...
    def drop_mortality(self) -> _Set: ...
    def mortal(self) -> _Set: ...
    def immortal(self) -> _Set: ...
    def opt(self) -> _Set: ...
    def as_boxed(self) -> _Set | None: ...
    def size_in_bytes(self) -> int | None: ...
    def is_leaf_scalar(self) -> bool: ...
    def is_bottom(self) -> bool: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

    # The predefined types; a test compares this list with the class.
    Object: ClassVar[_Set]
    MortalObject: ClassVar[_Set]
    ImmortalObject: ClassVar[_Set]
    OptObject: ClassVar[_Set]
    OptMortalObject: ClassVar[_Set]
    OptImmortalObject: ClassVar[_Set]
    ObjectExact: ClassVar[_Set]
    MortalObjectExact: ClassVar[_Set]
    ImmortalObjectExact: ClassVar[_Set]
    OptObjectExact: ClassVar[_Set]
    OptMortalObjectExact: ClassVar[_Set]
    OptImmortalObjectExact: ClassVar[_Set]
    ObjectUser: ClassVar[_Set]
    MortalObjectUser: ClassVar[_Set]
    ImmortalObjectUser: ClassVar[_Set]
    OptObjectUser: ClassVar[_Set]
    OptMortalObjectUser: ClassVar[_Set]
    OptImmortalObjectUser: ClassVar[_Set]
    BaseException: ClassVar[_Set]
    MortalBaseException: ClassVar[_Set]
    ImmortalBaseException: ClassVar[_Set]
    OptBaseException: ClassVar[_Set]
    OptMortalBaseException: ClassVar[_Set]
    OptImmortalBaseException: ClassVar[_Set]
    BaseExceptionExact: ClassVar[_Set]
    MortalBaseExceptionExact: ClassVar[_Set]
    ImmortalBaseExceptionExact: ClassVar[_Set]
    OptBaseExceptionExact: ClassVar[_Set]
    OptMortalBaseExceptionExact: ClassVar[_Set]
    OptImmortalBaseExceptionExact: ClassVar[_Set]
    BaseExceptionUser: ClassVar[_Set]
    MortalBaseExceptionUser: ClassVar[_Set]
    ImmortalBaseExceptionUser: ClassVar[_Set]
    OptBaseExceptionUser: ClassVar[_Set]
    OptMortalBaseExceptionUser: ClassVar[_Set]
    OptImmortalBaseExceptionUser: ClassVar[_Set]
    BuiltinMethod: ClassVar[_Set]
    MortalBuiltinMethod: ClassVar[_Set]
    ImmortalBuiltinMethod: ClassVar[_Set]
    OptBuiltinMethod: ClassVar[_Set]
    OptMortalBuiltinMethod: ClassVar[_Set]
    OptImmortalBuiltinMethod: ClassVar[_Set]
    BuiltinMethodExact: ClassVar[_Set]
    MortalBuiltinMethodExact: ClassVar[_Set]
    ImmortalBuiltinMethodExact: ClassVar[_Set]
    OptBuiltinMethodExact: ClassVar[_Set]
    OptMortalBuiltinMethodExact: ClassVar[_Set]
    OptImmortalBuiltinMethodExact: ClassVar[_Set]
    BuiltinMethodUser: ClassVar[_Set]
    MortalBuiltinMethodUser: ClassVar[_Set]
    ImmortalBuiltinMethodUser: ClassVar[_Set]
    OptBuiltinMethodUser: ClassVar[_Set]
    OptMortalBuiltinMethodUser: ClassVar[_Set]
    OptImmortalBuiltinMethodUser: ClassVar[_Set]
    ByteArray: ClassVar[_Set]
    MortalByteArray: ClassVar[_Set]
    ImmortalByteArray: ClassVar[_Set]
    OptByteArray: ClassVar[_Set]
    OptMortalByteArray: ClassVar[_Set]
    OptImmortalByteArray: ClassVar[_Set]
    ByteArrayExact: ClassVar[_Set]
    MortalByteArrayExact: ClassVar[_Set]
    ImmortalByteArrayExact: ClassVar[_Set]
    OptByteArrayExact: ClassVar[_Set]
    OptMortalByteArrayExact: ClassVar[_Set]
    OptImmortalByteArrayExact: ClassVar[_Set]
    ByteArrayUser: ClassVar[_Set]
    MortalByteArrayUser: ClassVar[_Set]
    ImmortalByteArrayUser: ClassVar[_Set]
    OptByteArrayUser: ClassVar[_Set]
    OptMortalByteArrayUser: ClassVar[_Set]
    OptImmortalByteArrayUser: ClassVar[_Set]
    Bytes: ClassVar[_Set]
    MortalBytes: ClassVar[_Set]
    ImmortalBytes: ClassVar[_Set]
    OptBytes: ClassVar[_Set]
    OptMortalBytes: ClassVar[_Set]
    OptImmortalBytes: ClassVar[_Set]
    BytesExact: ClassVar[_Set]
    MortalBytesExact: ClassVar[_Set]
    ImmortalBytesExact: ClassVar[_Set]
    OptBytesExact: ClassVar[_Set]
    OptMortalBytesExact: ClassVar[_Set]
    OptImmortalBytesExact: ClassVar[_Set]
    BytesUser: ClassVar[_Set]
    MortalBytesUser: ClassVar[_Set]
    ImmortalBytesUser: ClassVar[_Set]
    OptBytesUser: ClassVar[_Set]
    OptMortalBytesUser: ClassVar[_Set]
    OptImmortalBytesUser: ClassVar[_Set]
    Dict: ClassVar[_Set]
    MortalDict: ClassVar[_Set]
    ImmortalDict: ClassVar[_Set]
    OptDict: ClassVar[_Set]
    OptMortalDict: ClassVar[_Set]
    OptImmortalDict: ClassVar[_Set]
    DictExact: ClassVar[_Set]
    MortalDictExact: ClassVar[_Set]
    ImmortalDictExact: ClassVar[_Set]
    OptDictExact: ClassVar[_Set]
    OptMortalDictExact: ClassVar[_Set]
    OptImmortalDictExact: ClassVar[_Set]
    DictUser: ClassVar[_Set]
    MortalDictUser: ClassVar[_Set]
    ImmortalDictUser: ClassVar[_Set]
    OptDictUser: ClassVar[_Set]
    OptMortalDictUser: ClassVar[_Set]
    OptImmortalDictUser: ClassVar[_Set]
    Float: ClassVar[_Set]
    MortalFloat: ClassVar[_Set]
    ImmortalFloat: ClassVar[_Set]
    OptFloat: ClassVar[_Set]
    OptMortalFloat: ClassVar[_Set]
    OptImmortalFloat: ClassVar[_Set]
    FloatExact: ClassVar[_Set]
    MortalFloatExact: ClassVar[_Set]
    ImmortalFloatExact: ClassVar[_Set]
    OptFloatExact: ClassVar[_Set]
    OptMortalFloatExact: ClassVar[_Set]
    OptImmortalFloatExact: ClassVar[_Set]
    FloatUser: ClassVar[_Set]
    MortalFloatUser: ClassVar[_Set]
    ImmortalFloatUser: ClassVar[_Set]
    OptFloatUser: ClassVar[_Set]
    OptMortalFloatUser: ClassVar[_Set]
    OptImmortalFloatUser: ClassVar[_Set]
    FrozenSet: ClassVar[_Set]
    MortalFrozenSet: ClassVar[_Set]
    ImmortalFrozenSet: ClassVar[_Set]
    OptFrozenSet: ClassVar[_Set]
    OptMortalFrozenSet: ClassVar[_Set]
    OptImmortalFrozenSet: ClassVar[_Set]
    FrozenSetExact: ClassVar[_Set]
    MortalFrozenSetExact: ClassVar[_Set]
    ImmortalFrozenSetExact: ClassVar[_Set]
    OptFrozenSetExact: ClassVar[_Set]
    OptMortalFrozenSetExact: ClassVar[_Set]
    OptImmortalFrozenSetExact: ClassVar[_Set]
    FrozenSetUser: ClassVar[_Set]
    MortalFrozenSetUser: ClassVar[_Set]
    ImmortalFrozenSetUser: ClassVar[_Set]
    OptFrozenSetUser: ClassVar[_Set]
    OptMortalFrozenSetUser: ClassVar[_Set]
    OptImmortalFrozenSetUser: ClassVar[_Set]
    List: ClassVar[_Set]
    MortalList: ClassVar[_Set]
    ImmortalList: ClassVar[_Set]
    OptList: ClassVar[_Set]
    OptMortalList: ClassVar[_Set]
    OptImmortalList: ClassVar[_Set]
    ListExact: ClassVar[_Set]
    MortalListExact: ClassVar[_Set]
    ImmortalListExact: ClassVar[_Set]
    OptListExact: ClassVar[_Set]
    OptMortalListExact: ClassVar[_Set]
    OptImmortalListExact: ClassVar[_Set]
    ListUser: ClassVar[_Set]
    MortalListUser: ClassVar[_Set]
    ImmortalListUser: ClassVar[_Set]
    OptListUser: ClassVar[_Set]
    OptMortalListUser: ClassVar[_Set]
    OptImmortalListUser: ClassVar[_Set]
    Long: ClassVar[_Set]
    MortalLong: ClassVar[_Set]
    ImmortalLong: ClassVar[_Set]
    OptLong: ClassVar[_Set]
    OptMortalLong: ClassVar[_Set]
    OptImmortalLong: ClassVar[_Set]
    LongExact: ClassVar[_Set]
    MortalLongExact: ClassVar[_Set]
    ImmortalLongExact: ClassVar[_Set]
    OptLongExact: ClassVar[_Set]
    OptMortalLongExact: ClassVar[_Set]
    OptImmortalLongExact: ClassVar[_Set]
    LongUser: ClassVar[_Set]
    MortalLongUser: ClassVar[_Set]
    ImmortalLongUser: ClassVar[_Set]
    OptLongUser: ClassVar[_Set]
    OptMortalLongUser: ClassVar[_Set]
    OptImmortalLongUser: ClassVar[_Set]
    Module: ClassVar[_Set]
    MortalModule: ClassVar[_Set]
    ImmortalModule: ClassVar[_Set]
    OptModule: ClassVar[_Set]
    OptMortalModule: ClassVar[_Set]
    OptImmortalModule: ClassVar[_Set]
    ModuleExact: ClassVar[_Set]
    MortalModuleExact: ClassVar[_Set]
    ImmortalModuleExact: ClassVar[_Set]
    OptModuleExact: ClassVar[_Set]
    OptMortalModuleExact: ClassVar[_Set]
    OptImmortalModuleExact: ClassVar[_Set]
    ModuleUser: ClassVar[_Set]
    MortalModuleUser: ClassVar[_Set]
    ImmortalModuleUser: ClassVar[_Set]
    OptModuleUser: ClassVar[_Set]
    OptMortalModuleUser: ClassVar[_Set]
    OptImmortalModuleUser: ClassVar[_Set]
    Set: ClassVar[_Set]
    MortalSet: ClassVar[_Set]
    ImmortalSet: ClassVar[_Set]
    OptSet: ClassVar[_Set]
    OptMortalSet: ClassVar[_Set]
    OptImmortalSet: ClassVar[_Set]
    SetExact: ClassVar[_Set]
    MortalSetExact: ClassVar[_Set]
    ImmortalSetExact: ClassVar[_Set]
    OptSetExact: ClassVar[_Set]
    OptMortalSetExact: ClassVar[_Set]
    OptImmortalSetExact: ClassVar[_Set]
    SetUser: ClassVar[_Set]
    MortalSetUser: ClassVar[_Set]
    ImmortalSetUser: ClassVar[_Set]
    OptSetUser: ClassVar[_Set]
    OptMortalSetUser: ClassVar[_Set]
    OptImmortalSetUser: ClassVar[_Set]
    Tuple: ClassVar[_Set]
    MortalTuple: ClassVar[_Set]
    ImmortalTuple: ClassVar[_Set]
    OptTuple: ClassVar[_Set]
    OptMortalTuple: ClassVar[_Set]
    OptImmortalTuple: ClassVar[_Set]
    TupleExact: ClassVar[_Set]
    MortalTupleExact: ClassVar[_Set]
    ImmortalTupleExact: ClassVar[_Set]
    OptTupleExact: ClassVar[_Set]
    OptMortalTupleExact: ClassVar[_Set]
    OptImmortalTupleExact: ClassVar[_Set]
    TupleUser: ClassVar[_Set]
    MortalTupleUser: ClassVar[_Set]
    ImmortalTupleUser: ClassVar[_Set]
    OptTupleUser: ClassVar[_Set]
    OptMortalTupleUser: ClassVar[_Set]
    OptImmortalTupleUser: ClassVar[_Set]
    Type: ClassVar[_Set]
    MortalType: ClassVar[_Set]
    ImmortalType: ClassVar[_Set]
    OptType: ClassVar[_Set]
    OptMortalType: ClassVar[_Set]
    OptImmortalType: ClassVar[_Set]
    TypeExact: ClassVar[_Set]
    MortalTypeExact: ClassVar[_Set]
    ImmortalTypeExact: ClassVar[_Set]
    OptTypeExact: ClassVar[_Set]
    OptMortalTypeExact: ClassVar[_Set]
    OptImmortalTypeExact: ClassVar[_Set]
    TypeUser: ClassVar[_Set]
    MortalTypeUser: ClassVar[_Set]
    ImmortalTypeUser: ClassVar[_Set]
    OptTypeUser: ClassVar[_Set]
    OptMortalTypeUser: ClassVar[_Set]
    OptImmortalTypeUser: ClassVar[_Set]
    Unicode: ClassVar[_Set]
    MortalUnicode: ClassVar[_Set]
    ImmortalUnicode: ClassVar[_Set]
    OptUnicode: ClassVar[_Set]
    OptMortalUnicode: ClassVar[_Set]
    OptImmortalUnicode: ClassVar[_Set]
    UnicodeExact: ClassVar[_Set]
    MortalUnicodeExact: ClassVar[_Set]
    ImmortalUnicodeExact: ClassVar[_Set]
    OptUnicodeExact: ClassVar[_Set]
    OptMortalUnicodeExact: ClassVar[_Set]
    OptImmortalUnicodeExact: ClassVar[_Set]
    UnicodeUser: ClassVar[_Set]
    MortalUnicodeUser: ClassVar[_Set]
    ImmortalUnicodeUser: ClassVar[_Set]
    OptUnicodeUser: ClassVar[_Set]
    OptMortalUnicodeUser: ClassVar[_Set]
    OptImmortalUnicodeUser: ClassVar[_Set]
    Bool: ClassVar[_Set]
    MortalBool: ClassVar[_Set]
    ImmortalBool: ClassVar[_Set]
    OptBool: ClassVar[_Set]
    OptMortalBool: ClassVar[_Set]
    OptImmortalBool: ClassVar[_Set]
    Cell: ClassVar[_Set]
    MortalCell: ClassVar[_Set]
    ImmortalCell: ClassVar[_Set]
    OptCell: ClassVar[_Set]
    OptMortalCell: ClassVar[_Set]
    OptImmortalCell: ClassVar[_Set]
    Code: ClassVar[_Set]
    MortalCode: ClassVar[_Set]
    ImmortalCode: ClassVar[_Set]
    OptCode: ClassVar[_Set]
    OptMortalCode: ClassVar[_Set]
    OptImmortalCode: ClassVar[_Set]
    DictItemIter: ClassVar[_Set]
    MortalDictItemIter: ClassVar[_Set]
    ImmortalDictItemIter: ClassVar[_Set]
    OptDictItemIter: ClassVar[_Set]
    OptMortalDictItemIter: ClassVar[_Set]
    OptImmortalDictItemIter: ClassVar[_Set]
    DictKeyIter: ClassVar[_Set]
    MortalDictKeyIter: ClassVar[_Set]
    ImmortalDictKeyIter: ClassVar[_Set]
    OptDictKeyIter: ClassVar[_Set]
    OptMortalDictKeyIter: ClassVar[_Set]
    OptImmortalDictKeyIter: ClassVar[_Set]
    Frame: ClassVar[_Set]
    MortalFrame: ClassVar[_Set]
    ImmortalFrame: ClassVar[_Set]
    OptFrame: ClassVar[_Set]
    OptMortalFrame: ClassVar[_Set]
    OptImmortalFrame: ClassVar[_Set]
    Func: ClassVar[_Set]
    MortalFunc: ClassVar[_Set]
    ImmortalFunc: ClassVar[_Set]
    OptFunc: ClassVar[_Set]
    OptMortalFunc: ClassVar[_Set]
    OptImmortalFunc: ClassVar[_Set]
    Gen: ClassVar[_Set]
    MortalGen: ClassVar[_Set]
    ImmortalGen: ClassVar[_Set]
    OptGen: ClassVar[_Set]
    OptMortalGen: ClassVar[_Set]
    OptImmortalGen: ClassVar[_Set]
    ListIter: ClassVar[_Set]
    MortalListIter: ClassVar[_Set]
    ImmortalListIter: ClassVar[_Set]
    OptListIter: ClassVar[_Set]
    OptMortalListIter: ClassVar[_Set]
    OptImmortalListIter: ClassVar[_Set]
    Method: ClassVar[_Set]
    MortalMethod: ClassVar[_Set]
    ImmortalMethod: ClassVar[_Set]
    OptMethod: ClassVar[_Set]
    OptMortalMethod: ClassVar[_Set]
    OptImmortalMethod: ClassVar[_Set]
    MethodDescr: ClassVar[_Set]
    MortalMethodDescr: ClassVar[_Set]
    ImmortalMethodDescr: ClassVar[_Set]
    OptMethodDescr: ClassVar[_Set]
    OptMortalMethodDescr: ClassVar[_Set]
    OptImmortalMethodDescr: ClassVar[_Set]
    NoneType: ClassVar[_Set]
    MortalNoneType: ClassVar[_Set]
    ImmortalNoneType: ClassVar[_Set]
    OptNoneType: ClassVar[_Set]
    OptMortalNoneType: ClassVar[_Set]
    OptImmortalNoneType: ClassVar[_Set]
    Range: ClassVar[_Set]
    MortalRange: ClassVar[_Set]
    ImmortalRange: ClassVar[_Set]
    OptRange: ClassVar[_Set]
    OptMortalRange: ClassVar[_Set]
    OptImmortalRange: ClassVar[_Set]
    RangeIter: ClassVar[_Set]
    MortalRangeIter: ClassVar[_Set]
    ImmortalRangeIter: ClassVar[_Set]
    OptRangeIter: ClassVar[_Set]
    OptMortalRangeIter: ClassVar[_Set]
    OptImmortalRangeIter: ClassVar[_Set]
    Slice: ClassVar[_Set]
    MortalSlice: ClassVar[_Set]
    ImmortalSlice: ClassVar[_Set]
    OptSlice: ClassVar[_Set]
    OptMortalSlice: ClassVar[_Set]
    OptImmortalSlice: ClassVar[_Set]
    TupleIter: ClassVar[_Set]
    MortalTupleIter: ClassVar[_Set]
    ImmortalTupleIter: ClassVar[_Set]
    OptTupleIter: ClassVar[_Set]
    OptMortalTupleIter: ClassVar[_Set]
    OptImmortalTupleIter: ClassVar[_Set]
    CBool: ClassVar[_Set]
    CDouble: ClassVar[_Set]
    CInt8: ClassVar[_Set]
    CInt16: ClassVar[_Set]
    CInt32: ClassVar[_Set]
    CInt64: ClassVar[_Set]
    CPtr: ClassVar[_Set]
    CUInt8: ClassVar[_Set]
    CUInt16: ClassVar[_Set]
    CUInt32: ClassVar[_Set]
    CUInt64: ClassVar[_Set]
    Nullptr: ClassVar[_Set]
    Top: ClassVar[_Set]
    Bottom: ClassVar[_Set]
    Primitive: ClassVar[_Set]
    User: ClassVar[_Set]
    MortalUser: ClassVar[_Set]
    ImmortalUser: ClassVar[_Set]
    OptUser: ClassVar[_Set]
    OptMortalUser: ClassVar[_Set]
    OptImmortalUser: ClassVar[_Set]
    BuiltinExact: ClassVar[_Set]
    MortalBuiltinExact: ClassVar[_Set]
    ImmortalBuiltinExact: ClassVar[_Set]
    OptBuiltinExact: ClassVar[_Set]
    OptMortalBuiltinExact: ClassVar[_Set]
    OptImmortalBuiltinExact: ClassVar[_Set]
    CSigned: ClassVar[_Set]
    CUnsigned: ClassVar[_Set]
    CInt: ClassVar[_Set]
