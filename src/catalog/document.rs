//! A schema's document, read into a catalog.

use std::cell::RefCell;

use serde_json::Value;

use super::node::{Keys, Node, nearest};
use super::{Catalog, Entity, Operation, Operations, Publication, Refusal, Subscription};
use crate::error::Code;

const WORDS: [&str; 3] = ["create", "update", "delete"];

const DOCUMENT: Keys<'_> = Keys {
    supported: &["entities"],
    unsupported: &[
        (
            "subscriptions",
            "declare it on an entity; at the top nothing reads it",
        ),
        ("events", "targets for deliveries are not served"),
        ("scheduler", "deliveries are not served"),
        ("roles", "row rules are not served"),
    ],
};
const ENTITY: Keys<'_> = Keys {
    supported: &["name", "relation", "access", "events", "subscriptions"],
    unsupported: &[
        ("fields", "the fields are the relation's columns"),
        ("key", "the key is the relation's primary key"),
        ("rows", "row rules are not served"),
        ("masks", "masks are not served, and no values are sent"),
        ("triggers", "it is no part of change streams"),
        ("pointcuts", "it is no part of change streams"),
    ],
};
const ACCESS: Keys<'_> = Keys {
    supported: &["anonymous"],
    unsupported: &[("read", "a caller that authenticate() knows may read")],
};
const EVENT: Keys<'_> = Keys {
    supported: &["name", "operations", "topic", "format"],
    unsupported: &[
        (
            "condition",
            "conditions are not served; leave it out to publish every write",
        ),
        (
            "include",
            "no values are sent, so that there is nothing to choose from",
        ),
        (
            "exclude",
            "no values are sent, so that there is nothing to leave out",
        ),
    ],
};
const SUBSCRIPTION: Keys<'_> = Keys {
    supported: &["name", "source", "eventtypes", "scope", "rls", "transports"],
    unsupported: &[
        ("fieldgroup", "there are no named field groups"),
        (
            "filter",
            "filters are not served; leave it out to deliver every event",
        ),
        ("deletes", "every delete is announced"),
        ("leave", "without row rules no row leaves anybody's sight"),
        ("catch-up", "a reader goes on from its Last-Event-ID"),
    ],
};

impl Catalog {
    /// Reads a schema, or tells everything that is wrong with it. Relations without a namespace are in this one.
    pub fn parse(document: &Value, namespace: &str) -> Result<Self, Vec<Refusal>> {
        let refusals = RefCell::new(Vec::new());
        let mut catalog = Self {
            entities: Vec::new(),
            publications: Vec::new(),
            subscriptions: Vec::new(),
        };
        if let Some(root) = Node::new(document, String::new(), &refusals) {
            root.check_keys(&DOCUMENT);
            if !root.map.contains_key("entities") {
                root.refuse(Code::MissingKey, "entities", "'entities' must be given");
            }
            let nodes = root.nodes("entities");
            for node in &nodes {
                catalog.read_entity(node, namespace);
            }
            // A subscription may listen to an entity that comes later.
            for (entity, node) in nodes.iter().enumerate() {
                catalog.read_subscriptions(entity, node);
            }
        }
        let refusals = refusals.into_inner();
        if refusals.is_empty() {
            Ok(catalog)
        } else {
            Err(refusals)
        }
    }

    fn read_entity(&mut self, node: &Node<'_>, namespace: &str) {
        node.check_keys(&ENTITY);
        let name = node.required_name("name").unwrap_or_default();
        if !name.is_empty() && self.entity(name).is_some() {
            node.refuse(
                Code::DuplicateName,
                "name",
                format!("there is another entity '{name}'"),
            );
        }
        let relation = node.name("relation").unwrap_or(name);
        let (namespace, relation) = relation.split_once('.').unwrap_or((namespace, relation));
        let anonymous = node.node("access").and_then(|access| {
            access.check_keys(&ACCESS);
            access.boolean("anonymous")
        });
        self.entities.push(Entity {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            relation: relation.to_owned(),
            anonymous: anonymous.unwrap_or(false),
        });
        let entity = self.entities.len() - 1;
        let mut names = Vec::new();
        for event in node.nodes("events") {
            self.read_publication(entity, name, &event);
            if let Some(label) = event.required_name("name") {
                if names.contains(&label) {
                    let message = format!("there is another event '{label}' on this entity");
                    event.refuse(Code::DuplicateName, "name", message);
                }
                names.push(label);
            }
        }
    }

    fn read_publication(&mut self, entity: usize, name: &str, node: &Node<'_>) {
        node.check_keys(&EVENT);
        node.word("format", &["json"]);
        let own = format!("entity.{name}");
        let topic = node.name("topic").unwrap_or(&own);
        if self.publications.iter().any(|it| it.topic == topic) {
            let message = format!("the topic '{topic}' is taken by another event");
            node.refuse(Code::DuplicateName, "topic", message);
        }
        self.publications.push(Publication {
            entity,
            topic: topic.to_owned(),
            operations: operations(node, "operations"),
        });
    }

    fn read_subscriptions(&mut self, entity: usize, node: &Node<'_>) {
        for subscription in node.nodes("subscriptions") {
            subscription.check_keys(&SUBSCRIPTION);
            let name = subscription.required_name("name").unwrap_or_default();
            if !name.is_empty() && self.subscriptions_of(entity).any(|(_, it)| it.name == name) {
                let message = format!("there is another subscription '{name}' on this entity");
                subscription.refuse(Code::DuplicateName, "name", message);
            }
            subscription.words("transports", &["sse"]);
            if subscription.word("scope", &["tenant", "user"]) == Some("user") {
                let message = "'user' is not supported: the scope is the tenant";
                subscription.refuse(Code::UnsupportedKey, "scope", message);
            }
            if subscription.boolean("rls") == Some(true) {
                let message = "'true' is not supported: frames name the row that changed, and carry no values";
                subscription.refuse(Code::UnsupportedKey, "rls", message);
            }
            let operations = operations(&subscription, "eventtypes");
            let Some(publication) = self.source_of(entity, &subscription) else {
                continue;
            };
            let published = self.publications.get(publication).map(|it| it.operations);
            if published.is_some_and(|published| published.and(operations).are_none()) {
                let message =
                    "none of these operations is published: the stream would stay silent for ever";
                subscription.refuse(Code::TopicNotPublished, "eventtypes", message);
            }
            self.subscriptions.push(Subscription {
                entity,
                name: name.to_owned(),
                publication,
                operations: operations.and(published.unwrap_or_default()),
            });
        }
    }

    /// The publication that a subscription listens to.
    fn source_of(&self, entity: usize, node: &Node<'_>) -> Option<usize> {
        let name = self.entities.get(entity).map_or("", |it| &it.name);
        let own = format!("entity.{name}");
        let topic = if node.map.contains_key("source") {
            node.name("source")?
        } else {
            &own
        };
        let found = self.publications.iter().position(|it| it.topic == topic);
        if found.is_none() {
            let topics = self.publications.iter().map(|it| it.topic.as_str());
            let hint = match nearest(topic, topics.clone()) {
                Some(near) => format!("did you mean '{near}'?"),
                None if topics.clone().next().is_none() => {
                    "declare what is published in 'events' of an entity".to_owned()
                }
                None => format!("the topics are {}", topics.collect::<Vec<_>>().join(", ")),
            };
            let message = format!(
                "no 'events' publish to the topic '{topic}', and the stream would stay silent for ever; {hint}"
            );
            node.refuse(Code::TopicNotPublished, "source", message);
        }
        found
    }
}

/// A list of operations; all of them where there is none.
fn operations(node: &Node<'_>, key: &str) -> Operations {
    let words = node.words(key, &WORDS);
    words.map_or(Operations::ALL, |words| {
        words.into_iter().filter_map(Operation::parse).collect()
    })
}
