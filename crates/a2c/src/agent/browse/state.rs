//! The browser without its terminal: a state, and what each action makes of it.
//!
//! [`BrowserState::apply`] is the only way to change a state. It returns the queries to send; the answers come back as
//! actions. Each list has one query under way at most, and so has the preview: moving quickly loads the page where the
//! cursor stops, and none in between. A change that is announced while a list is being loaded makes it load once more.

use std::collections::{BTreeSet, HashMap};

use super::item::{Item, Loaded};
use super::list::PagedList;
use super::location::Location;
use super::query::{LoadError, NumberedQuery, Query, QueryId};

#[cfg(test)]
mod tests;

/// How many documents one query loads, and the most that a refresh loads.
const DOCUMENTS_AT_ONCE: u64 = 50;
const DOCUMENTS_AT_MOST: u64 = 100;

/// How many texts are remembered, and how much of each: it is a preview, which `read` prints in full.
const TEXTS: usize = 200;
const LONGEST_TEXT: usize = 128 * 1024;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Moves the cursor by so many rows.
    Step(isize),
    /// Moves the cursor by so many screens.
    Leaf(isize),
    /// Moves the text of the preview by so many lines.
    Scroll(isize),
    First,
    Last,
    Open,
    Back,
    Refresh,
    NextType,
    Help,
    Quit,
    /// Begins to type a search, types it, and ends it.
    Search,
    Type(char),
    Erase,
    Submit,
    Cancel,
    /// An answer came, or why there is none.
    Answered(QueryId, Result<Loaded, LoadError>),
    /// The documents of a Computer changed.
    Changed(String),
    /// A Computer came, or went.
    Came(String),
    Went(String),
    /// The connection is lost, or is back.
    Lost(String),
    Restored,
    /// It was drawn, with so many rows for the list; the preview can be scrolled so far.
    Drawn {
        rows: usize,
        last_scroll: usize,
    },
}

/// A list and where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    pub(super) location: Location,
    pub(super) list: PagedList<Item>,
}

/// Everything that is shown.
#[derive(Debug)]
pub(super) struct BrowserState {
    /// From the first list to the one on the screen; never empty.
    pub(super) levels: Vec<Level>,
    /// What the documents are searched for.
    pub(super) search: String,
    /// The search that is being typed.
    pub(super) typing: Option<String>,
    pub(super) file_type: Option<String>,
    /// The types that were seen, for choosing one.
    types: BTreeSet<String>,
    pub(super) scroll: usize,
    pub(super) notice: Option<String>,
    pub(super) offline: Option<String>,
    pub(super) is_help: bool,
    pub(super) is_over: bool,
    /// A single Computer is opened by itself, once.
    opens_single: bool,
    texts: HashMap<Query, Result<String, LoadError>>,
    /// The text that is being loaded; `None` as query where its answer is no longer wanted.
    loading_text: Option<(QueryId, Option<Query>)>,
    rows: usize,
    last_scroll: usize,
    last_id: QueryId,
}

impl BrowserState {
    /// The browser at its start, and its first queries.
    pub(super) fn new(computer: Option<String>) -> (Self, Vec<NumberedQuery>) {
        let opens_single = computer.is_none();
        let location = computer.map_or(Location::Office, |computer| Location::Finder { computer });
        let mut state = Self {
            levels: vec![Level { location, list: PagedList::default() }],
            search: String::new(),
            typing: None,
            file_type: None,
            types: BTreeSet::new(),
            scroll: 0,
            notice: None,
            offline: None,
            is_help: false,
            is_over: false,
            opens_single,
            texts: HashMap::new(),
            loading_text: None,
            rows: 1,
            last_scroll: 0,
            last_id: 0,
        };
        let queries = state.load(0, 0).into_iter().collect();
        (state, queries)
    }

    /// The level on the screen.
    pub(super) fn top(&self) -> &Level {
        self.levels.last().expect("there always is a level")
    }

    fn top_list(&mut self) -> &mut PagedList<Item> {
        &mut self.levels.last_mut().expect("there always is a level").list
    }

    /// The text beside the list, or that it is being loaded.
    pub(super) fn preview(&self) -> String {
        let Level { location, list } = self.top();
        let Some(item) = list.current() else { return String::new() };
        let query = location.text_of(item);
        match query.as_ref().map(|query| (query, self.texts.get(query))) {
            Some((_, Some(Ok(text)))) => text.clone(),
            Some((_, Some(Err(error)))) => format!("{}\n\n{error}", item.about()).trim_start().to_owned(),
            Some((Query::Page { .. }, None)) => "loading…".to_owned(),
            _ => item.about(),
        }
    }

    /// Whether something that is on the screen is being loaded.
    pub(super) fn is_loading(&self) -> bool {
        self.top().list.loading.is_some() || matches!(self.loading_text, Some((_, Some(_))))
    }

    /// Takes an action, and returns the queries to send.
    pub(super) fn apply(&mut self, action: Action) -> Vec<NumberedQuery> {
        let mut queries = Vec::new();
        match action {
            Action::Drawn { rows, last_scroll } => {
                (self.rows, self.last_scroll) = (rows.max(1), last_scroll);
                self.scroll = self.scroll.min(last_scroll);
                return queries;
            }
            Action::Answered(id, answer) => self.answered(id, answer, &mut queries),
            Action::Changed(computer) => self.refresh(|location| location.computer() == Some(&computer), &mut queries),
            Action::Came(computer) => {
                self.notice = None;
                self.refresh(|location| location.computer().is_none_or(|at| at == computer), &mut queries);
            }
            Action::Went(computer) => {
                if self.top().location.computer() == Some(&computer) {
                    self.notice = Some(format!("'{computer}' has left the office"));
                }
                self.refresh(|location| *location == Location::Office, &mut queries);
            }
            Action::Lost(reason) => self.offline = Some(reason),
            Action::Restored => {
                self.offline = None;
                self.refresh(|_| true, &mut queries);
            }
            pressed => self.pressed(&pressed, &mut queries),
        }
        self.follow_up(&mut queries);
        queries
    }

    fn pressed(&mut self, action: &Action, queries: &mut Vec<NumberedQuery>) {
        self.notice = None;
        let is_help = std::mem::take(&mut self.is_help);
        match action {
            Action::Quit => self.is_over = true,
            // The key that closes the help does nothing else.
            _ if is_help => {}
            Action::Help => self.is_help = true,
            Action::Step(by) => self.step(*by),
            Action::Leaf(by) => self.step(by.saturating_mul(isize::try_from(self.rows).unwrap_or(isize::MAX))),
            Action::First => self.step(isize::MIN),
            Action::Last => self.step(isize::MAX),
            Action::Scroll(by) => self.scroll = self.scroll.saturating_add_signed(*by).min(self.last_scroll),
            Action::Open => self.open(queries),
            Action::Back => self.back(queries),
            Action::Refresh => self.refresh(|_| true, queries),
            Action::NextType => self.next_type(queries),
            Action::Search if self.finder().is_some() => self.typing = Some(self.search.clone()),
            Action::Search => self.notice = Some("open a Computer first, then search its documents".to_owned()),
            Action::Type(c) => self.typing.get_or_insert_default().push(*c),
            Action::Erase => _ = self.typing.as_mut().and_then(String::pop),
            Action::Cancel => self.typing = None,
            Action::Submit => {
                if let Some(typed) = self.typing.take() {
                    let file_type = self.file_type.clone();
                    self.filter(typed.trim().to_owned(), file_type, queries);
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, by: isize) {
        let before = self.top().list.selected;
        self.top_list().step(by);
        if self.top().list.selected != before {
            self.scroll = 0;
        }
    }

    fn open(&mut self, queries: &mut Vec<NumberedQuery>) {
        let Level { location, list } = self.top();
        let Some(item) = list.current() else { return };
        if let Some(location) = location.inside(item) {
            self.enter(location, queries);
        } else if let Some(query) = location.text_of(item) {
            // An element is shown as its page has it until it is opened.
            if self.loading_text.is_none() && !matches!(self.texts.get(&query), Some(Ok(_))) {
                queries.push(self.text_query(query));
            }
        }
    }

    fn enter(&mut self, location: Location, queries: &mut Vec<NumberedQuery>) {
        self.levels.push(Level { location, list: PagedList::default() });
        self.scroll = 0;
        queries.extend(self.load(self.levels.len() - 1, 0));
    }

    fn back(&mut self, queries: &mut Vec<NumberedQuery>) {
        let is_finder = matches!(self.top().location, Location::Finder { .. });
        if is_finder && (!self.search.is_empty() || self.file_type.is_some()) {
            self.filter(String::new(), None, queries);
        } else if self.levels.len() > 1 {
            self.levels.pop();
            self.scroll = 0;
        } else {
            self.notice = Some("q quits".to_owned());
        }
        if matches!(self.top().location, Location::Office) {
            self.types.clear();
        }
    }

    /// The level of the documents.
    fn finder(&self) -> Option<usize> {
        self.levels.iter().position(|level| matches!(level.location, Location::Finder { .. }))
    }

    /// Shows other documents; the answer of a running query is no longer wanted.
    fn filter(&mut self, search: String, file_type: Option<String>, queries: &mut Vec<NumberedQuery>) {
        let Some(finder) = self.finder() else { return };
        (self.search, self.file_type) = (search, file_type);
        self.levels.truncate(finder + 1);
        self.levels[finder].list = PagedList::default();
        self.scroll = 0;
        queries.extend(self.load(finder, 0));
    }

    /// Only where documents are listed: on a page it would take the user away from the text.
    fn next_type(&mut self, queries: &mut Vec<NumberedQuery>) {
        if !matches!(self.top().location, Location::Finder { .. }) {
            return;
        }
        if self.types.is_empty() {
            self.notice = Some("no documents, and so no types to choose from".to_owned());
            return;
        }
        let next = match &self.file_type {
            None => self.types.first(),
            Some(current) => self.types.iter().find(|known| *known > current),
        };
        let (search, next) = (self.search.clone(), next.cloned());
        self.filter(search, next, queries);
    }

    /// Loads lists again, and forgets the texts.
    fn refresh(&mut self, concerns: impl Fn(&Location) -> bool, queries: &mut Vec<NumberedQuery>) {
        let concerned: Vec<usize> =
            (0..self.levels.len()).filter(|&depth| concerns(&self.levels[depth].location)).collect();
        if concerned.is_empty() {
            return;
        }
        self.texts.clear();
        if let Some((_, wanted)) = &mut self.loading_text {
            *wanted = None;
        }
        for depth in concerned {
            let list = &mut self.levels[depth].list;
            match list.loading {
                Some(_) => list.is_stale = true,
                None => queries.extend(self.load(depth, 0)),
            }
        }
    }

    /// The query for a piece of a list.
    fn load(&mut self, depth: usize, offset: u64) -> Option<NumberedQuery> {
        let level = self.levels.get(depth)?;
        let query = match level.location.clone() {
            Location::Office => Query::Computers,
            Location::Finder { computer } => Query::Documents {
                computer,
                keywords: self.search.split_whitespace().map(ToOwned::to_owned).collect(),
                file_type: self.file_type.clone(),
                offset,
                limit: match offset {
                    0 => (level.list.items.len() as u64).clamp(DOCUMENTS_AT_ONCE, DOCUMENTS_AT_MOST),
                    _ => DOCUMENTS_AT_ONCE,
                },
            },
            Location::Document { computer, uri, .. } => Query::Pages { computer, uri, offset },
            Location::Page { computer, uri, index, .. } => Query::Elements { computer, uri, index },
        };
        let numbered = self.number(query);
        let list = &mut self.levels[depth].list;
        list.loading = Some((numbered.id, offset));
        list.is_stale = false;
        Some(numbered)
    }

    fn number(&mut self, query: Query) -> NumberedQuery {
        self.last_id += 1;
        NumberedQuery { id: self.last_id, query }
    }

    fn text_query(&mut self, query: Query) -> NumberedQuery {
        let numbered = self.number(query.clone());
        self.loading_text = Some((numbered.id, Some(query)));
        numbered
    }

    fn answered(&mut self, id: QueryId, answer: Result<Loaded, LoadError>, queries: &mut Vec<NumberedQuery>) {
        if let Some((_, wanted)) = self.loading_text.take_if(|(open, _)| *open == id) {
            return self.take_text(wanted, answer);
        }
        let loads = |level: &Level| level.list.loading.is_some_and(|(open, _)| open == id);
        let Some(depth) = self.levels.iter().position(loads) else { return };
        let offset = self.levels[depth].list.loading.take().map_or(0, |(_, offset)| offset);
        match answer {
            Ok(Loaded::Items { items, total }) => self.take_items(depth, offset, items, total, queries),
            Ok(Loaded::Text(_)) => {}
            Err(error) => {
                self.levels[depth].list.has_failed = true;
                self.notice = Some(error.to_string());
            }
        }
        if self.levels.get(depth).is_some_and(|level| level.list.is_stale) {
            queries.extend(self.load(depth, 0));
        }
    }

    fn take_text(&mut self, wanted: Option<Query>, answer: Result<Loaded, LoadError>) {
        let Some(query) = wanted else { return };
        let text = match answer {
            Ok(Loaded::Text(mut text)) => {
                if text.len() > LONGEST_TEXT {
                    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
                    text.push_str("…\n\n(it goes on; `a2c agent read` prints all of it)");
                }
                Ok(text)
            }
            Ok(Loaded::Items { .. }) => return,
            Err(error) => Err(error),
        };
        if let Err(error) = &text {
            self.notice = Some(error.to_string());
        }
        if self.texts.len() >= TEXTS {
            self.texts.clear();
        }
        self.texts.insert(query, text);
    }

    fn take_items(
        &mut self,
        depth: usize,
        offset: u64,
        items: Vec<Item>,
        total: u64,
        queries: &mut Vec<NumberedQuery>,
    ) {
        for item in &items {
            if let Item::Document(document) = item
                && !document.file_type.is_empty()
            {
                self.types.insert(document.file_type.clone());
            }
        }
        self.levels[depth].list.take(offset, items, total, Item::is_same);
        let Level { location, list } = &self.levels[depth];
        if *location != Location::Office || list.items.is_empty() || !std::mem::take(&mut self.opens_single) {
            return;
        }
        // A list of one needs no choice.
        if let [Item::Computer(computer)] = &self.levels[depth].list.items[..] {
            let location = Location::Finder { computer: computer.clone() };
            self.levels.clear();
            self.enter(location, queries);
        }
    }

    /// Adds the queries that the new state needs: more of a list whose end is near, and the text beside it.
    fn follow_up(&mut self, queries: &mut Vec<NumberedQuery>) {
        if let Some(offset) = self.top().list.wants_more() {
            queries.extend(self.load(self.levels.len() - 1, offset));
        }
        let Level { location, list } = self.top();
        let wanted = list.current().and_then(|item| location.text_of(item));
        if let Some(query @ Query::Page { .. }) = wanted
            && self.loading_text.is_none()
            && !self.texts.contains_key(&query)
        {
            queries.push(self.text_query(query));
        }
    }
}
