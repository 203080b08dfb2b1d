//! The operations of the entity wire.

/// What happened to a row of an entity.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// The row is there now.
    Create,
    /// The row changed.
    Update,
    /// The row is gone.
    Delete,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Create, Self::Update, Self::Delete];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// The operation of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Operations(u8);

impl Operations {
    /// Every operation.
    pub const ALL: Self = Self(0b111);

    /// Whether an operation is among them.
    pub const fn contains(self, operation: Operation) -> bool {
        self.0 & 1 << operation as u8 != 0
    }

    /// Those that are also among the others.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Whether all of them are among the others.
    pub const fn are_within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    /// Whether there are none.
    pub const fn are_none(self) -> bool {
        self.0 == 0
    }

    /// The words for them.
    pub fn words(self) -> Vec<&'static str> {
        let among = Operation::ALL.into_iter().filter(|it| self.contains(*it));
        among.map(Operation::as_str).collect()
    }
}

impl FromIterator<Operation> for Operations {
    fn from_iter<T: IntoIterator<Item = Operation>>(operations: T) -> Self {
        Self(
            operations
                .into_iter()
                .fold(0, |set, it| set | 1 << it as u8),
        )
    }
}
