//! Which delivery classes an entry concerns.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ring::Ring;
use crate::row::Relation;
use crate::selector::Selector;

/// Subscriptions that are given the same bytes.
#[derive(Debug)]
pub struct Class {
    /// What they ask for.
    pub selector: Selector,
    /// Those at the tip of the log.
    pub tip: Vec<u32>,
    /// How many stand elsewhere.
    pub elsewhere: usize,
    /// What those who are only a little behind are served from.
    pub ring: Ring,
    members: usize,
}

/// All classes, and the way from a relation to those that ask for it.
#[derive(Debug, Default)]
pub struct Routes {
    classes: Vec<Option<Class>>,
    by_selector: BTreeMap<String, usize>,
    /// For each relation version, the classes that ask for it; made when first needed.
    by_relation: BTreeMap<u32, Vec<usize>>,
}

impl Routes {
    /// The class for a selector, shared by all who ask for the same.
    pub fn join(&mut self, selector: Selector, tip: u64) -> usize {
        let canonical = selector.canonical();
        let index = *self.by_selector.entry(canonical).or_insert_with(|| {
            self.by_relation.clear();
            let class = Class {
                selector,
                tip: Vec::new(),
                elsewhere: 0,
                ring: Ring::new(tip),
                members: 0,
            };
            if let Some(free) = self.classes.iter().position(Option::is_none) {
                if let Some(slot) = self.classes.get_mut(free) {
                    *slot = Some(class);
                }
                return free;
            }
            self.classes.push(Some(class));
            self.classes.len() - 1
        });
        if let Some(class) = self.class_mut(index) {
            class.members += 1;
        }
        index
    }

    /// Takes a subscription out of its class. A class without subscriptions is gone.
    pub fn leave(&mut self, index: usize, subscription: u32) {
        let Some(class) = self.class_mut(index) else {
            return;
        };
        class.tip.retain(|member| *member != subscription);
        class.members -= 1;
        if class.members > 0 {
            return;
        }
        let canonical = class.selector.canonical();
        self.by_selector.remove(&canonical);
        self.by_relation.clear();
        if let Some(slot) = self.classes.get_mut(index) {
            *slot = None;
        }
    }

    /// The class at this index.
    pub fn class(&self, index: usize) -> Option<&Class> {
        self.classes.get(index)?.as_ref()
    }

    /// The class at this index, to change it.
    pub fn class_mut(&mut self, index: usize) -> Option<&mut Class> {
        self.classes.get_mut(index)?.as_mut()
    }

    /// The classes there are.
    pub fn classes_mut(&mut self) -> impl Iterator<Item = &mut Class> {
        self.classes.iter_mut().flatten()
    }

    /// The classes that ask for a relation.
    pub fn of(&mut self, relation: &Relation) -> &[usize] {
        self.by_relation.entry(relation.id).or_insert_with(|| {
            let asks = |class: &Class| class.selector.matches(&relation.namespace, &relation.name);
            self.classes
                .iter()
                .enumerate()
                .filter(|(_, class)| class.as_ref().is_some_and(asks))
                .map(|(index, _)| index)
                .collect()
        })
    }

    /// The classes that ask for any of these relations, in order.
    pub fn of_any(&mut self, relations: &[&Rc<Relation>]) -> Vec<usize> {
        if let [relation] = relations {
            return self.of(relation).to_vec();
        }
        let mut classes = BTreeSet::new();
        for relation in relations {
            classes.extend(self.of(relation).iter().copied());
        }
        classes.into_iter().collect()
    }

    /// Forgets which relations concern whom, as when a log begins anew.
    pub fn forget_relations(&mut self) {
        self.by_relation.clear();
    }
}
