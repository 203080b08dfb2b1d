//! The functions of the language: their names, and what they take and give.

use super::schema::{Base, Type};

macro_rules! functions {
    ($($name:ident $text:literal $takes:literal $gives:literal,)*) => {
        /// A function.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub(super) enum Function { $($name),* }

        /// Each with its name, what it takes and what it gives, by a letter for each.
        ///
        /// `a` an array, `b` a boolean, `d` a duration, `f` a number, `i` an integer, `m` a map, `p` a
        /// predicate, `s` a string, `t` a date, `*` anything; of results, `e` an item and `1` the same
        /// as the first argument. What follows a bar may be left out, and a plus repeats the last.
        pub(super) const FUNCTIONS: &[(Function, &str, &str, char)] =
            &[$((Function::$name, $text, $takes, $gives)),*];
    };
}

functions! {
    Abs "abs" "f" '1',
    All "all" "ap" 'b',
    Any "any" "ap" 'b',
    BitAnd "bitand" "ii" 'i',
    BitNand "bitnand" "ii" 'i',
    BitNot "bitnot" "i" 'i',
    BitOr "bitor" "ii" 'i',
    BitShl "bitshl" "ii" 'i',
    BitShr "bitshr" "ii" 'i',
    BitUshr "bitushr" "ii" 'i',
    BitXor "bitxor" "ii" 'i',
    Ceil "ceil" "f" 'f',
    Concat "concat" "a+" 'a',
    Count "count" "a|p" 'i',
    Date "date" "*|ss" 't',
    Duration "duration" "s" 'd',
    Filter "filter" "ap" '1',
    Find "find" "ap" 'e',
    FindIndex "findIndex" "ap" 'i',
    FindLast "findLast" "ap" 'e',
    FindLastIndex "findLastIndex" "ap" 'i',
    First "first" "a" 'e',
    Flatten "flatten" "a" 'a',
    Float "float" "*" 'f',
    Floor "floor" "f" 'f',
    FromBase64 "fromBase64" "s" 's',
    FromJson "fromJSON" "s" '*',
    FromPairs "fromPairs" "a" 'm',
    Get "get" "**" '*',
    GroupBy "groupBy" "ap" 'm',
    HasPrefix "hasPrefix" "ss" 'b',
    HasSuffix "hasSuffix" "ss" 'b',
    IndexOf "indexOf" "ss" 'i',
    Int "int" "*" 'i',
    Join "join" "a|s" 's',
    Keys "keys" "m" 'a',
    Last "last" "a" 'e',
    LastIndexOf "lastIndexOf" "ss" 'i',
    Len "len" "*" 'i',
    Lower "lower" "s" 's',
    Map "map" "ap" 'a',
    Max "max" "*+" '*',
    Mean "mean" "*+" 'f',
    Median "median" "*+" 'f',
    Min "min" "*+" '*',
    None "none" "ap" 'b',
    Now "now" "" 't',
    One "one" "ap" 'b',
    Reduce "reduce" "ap|*" '*',
    Repeat "repeat" "si" 's',
    Replace "replace" "sss|i" 's',
    Reverse "reverse" "a" 'a',
    Round "round" "f" 'f',
    Sort "sort" "a|s" 'a',
    SortBy "sortBy" "ap|s" 'a',
    Split "split" "ss|i" 'z',
    SplitAfter "splitAfter" "ss|i" 'z',
    String "string" "*" 's',
    Sum "sum" "a|p" '*',
    Take "take" "ai" '1',
    ToBase64 "toBase64" "s" 's',
    ToJson "toJSON" "*" 's',
    ToPairs "toPairs" "m" 'a',
    Trim "trim" "s|s" 's',
    TrimPrefix "trimPrefix" "s|s" 's',
    TrimSuffix "trimSuffix" "s|s" 's',
    Type "type" "*" 's',
    Uniq "uniq" "a" 'a',
    Upper "upper" "s" 's',
    Values "values" "m" 'a',
}

/// The methods of dates and durations, each with what it takes and gives.
pub(super) const METHODS: &[(&str, &str, char)] = &[
    ("Abs", "", 'd'),
    ("Add", "d", 't'),
    ("AddDate", "iii", 't'),
    ("After", "t", 'b'),
    ("Before", "t", 'b'),
    ("Day", "", 'i'),
    ("Equal", "t", 'b'),
    ("Format", "s", 's'),
    ("Hour", "", 'i'),
    ("Hours", "", 'f'),
    ("IsZero", "", 'b'),
    ("Microseconds", "", 'i'),
    ("Milliseconds", "", 'i'),
    ("Minute", "", 'i'),
    ("Minutes", "", 'f'),
    ("Month", "", 'i'),
    ("Nanosecond", "", 'i'),
    ("Nanoseconds", "", 'i'),
    ("Second", "", 'i'),
    ("Seconds", "", 'f'),
    ("String", "", 's'),
    ("Sub", "t", 'd'),
    ("UTC", "", 't'),
    ("Unix", "", 'i'),
    ("UnixMicro", "", 'i'),
    ("UnixMilli", "", 'i'),
    ("UnixNano", "", 'i'),
    ("Weekday", "", 'i'),
    ("Year", "", 'i'),
    ("YearDay", "", 'i'),
];

/// What a function of these letters takes at least, and at most.
pub(super) fn arity(takes: &str) -> (usize, usize) {
    let most = takes
        .bytes()
        .filter(|letter| !b"|+".contains(letter))
        .count();
    let least = takes.find('|').unwrap_or(most);
    (
        least,
        if takes.ends_with('+') {
            usize::MAX
        } else {
            most
        },
    )
}

/// The letter of an argument.
pub(super) fn letter(takes: &str, index: usize) -> char {
    let mut letters = takes.chars().filter(|letter| !"|+".contains(*letter));
    let last = letters.clone().next_back();
    letters.nth(index).or(last).unwrap_or('*')
}

/// The type that a letter stands for.
pub(super) const fn type_of(letter: char) -> Type {
    Type::of(match letter {
        'a' => Base::Array,
        'b' => Base::Bool,
        'd' => Base::Duration,
        'f' => Base::Float,
        'i' => Base::Int,
        'm' => Base::Map,
        's' => Base::Text,
        't' => Base::Time,
        'z' => return Type::array(Base::Text),
        _ => Base::Any,
    })
}
