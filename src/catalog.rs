//! What is declared: entities, what is published of them, and who may listen.
//!
//! A schema is read once, whole, into a catalog that cannot be wrong afterwards; everything that is wrong
//! with it is refused together, each with a code and the path of the key. What the relations in the
//! database must be for it is checked against them.

mod document;
mod node;
mod operations;
mod relations;

pub use operations::{Operation, Operations};

use crate::error::Code;

/// Everything that a schema declares.
#[derive(Debug)]
pub struct Catalog {
    /// The entities, in the schema's order.
    pub entities: Vec<Entity>,
    /// What is published, of all entities.
    pub publications: Vec<Publication>,
    /// Who may listen, of all entities.
    pub subscriptions: Vec<Subscription>,
}

/// Something that has rows and is known by a name of its own.
#[derive(Debug)]
pub struct Entity {
    /// Its name.
    pub name: String,
    /// The schema of its relation.
    pub namespace: String,
    /// Its relation's name.
    pub relation: String,
    /// Whether callers that nobody knows may read it.
    pub anonymous: bool,
}

/// Events of an entity, published under a topic.
#[derive(Debug)]
pub struct Publication {
    /// The entity, by its index.
    pub entity: usize,
    /// What it is published under.
    pub topic: String,
    /// Which operations are published.
    pub operations: Operations,
}

/// A subscription that clients may open.
#[derive(Debug)]
pub struct Subscription {
    /// The entity it belongs to, by its index.
    pub entity: usize,
    /// How a client picks it.
    pub name: String,
    /// What it listens to, by index.
    pub publication: usize,
    /// Which operations reach a subscriber.
    pub operations: Operations,
}

/// One thing that is wrong with a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// What it is, for a program.
    pub code: Code,
    /// Where: `entities[0].subscriptions[1].rls`.
    pub path: String,
    /// What it is, and what would have been right, for a person.
    pub message: String,
}

impl Catalog {
    /// The entity of this name, and its index.
    pub fn entity(&self, name: &str) -> Option<(usize, &Entity)> {
        let mut entities = self.entities.iter().enumerate();
        entities.find(|(_, entity)| entity.name == name)
    }

    /// The subscriptions of an entity, each with its index.
    pub fn subscriptions_of(&self, entity: usize) -> impl Iterator<Item = (usize, &Subscription)> {
        let all = self.subscriptions.iter().enumerate();
        all.filter(move |(_, subscription)| subscription.entity == entity)
    }

    /// What a subscription listens to, and whose rows those are.
    pub fn source(&self, subscription: usize) -> Option<(&Publication, &Entity)> {
        let subscription = self.subscriptions.get(subscription)?;
        let publication = self.publications.get(subscription.publication)?;
        Some((publication, self.entities.get(publication.entity)?))
    }
}
