//! The browser without its terminal: a state, and what each action makes of it.
//!
//! [`State::apply`] is the only way to change a state. It returns what has to be asked for; the answers come back as
//! actions. Each list has one request under way at most, and so has the preview: who leafs quickly asks for the page
//! where they stop, and not for all in between. A change that is announced while a list is being loaded makes it load
//! once more.

use std::collections::{BTreeSet, HashMap};

use super::list::{List, Ticket};
use super::place::{Answer, Item, Order, Place, Request};

#[cfg(test)]
mod tests;

/// How many documents are asked for at a time, and the most that a refresh asks for.
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
    Answered(Ticket, Result<Answer, String>),
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
    pub(super) place: Place,
    pub(super) list: List<Item>,
}

/// Everything that is shown.
#[derive(Debug)]
pub(super) struct State {
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
    texts: HashMap<Request, Result<String, String>>,
    /// The text that is under way; `None` as request where its answer is no longer wanted.
    text_ticket: Option<(Ticket, Option<Request>)>,
    rows: usize,
    last_scroll: usize,
    tickets: Ticket,
}

impl State {
    /// The browser at its start, and what it asks for first.
    pub(super) fn new(computer: Option<String>) -> (Self, Vec<Order>) {
        let opens_single = computer.is_none();
        let place = computer.map_or(Place::Office, |computer| Place::Finder { computer });
        let mut state = Self {
            levels: vec![Level { place, list: List::default() }],
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
            text_ticket: None,
            rows: 1,
            last_scroll: 0,
            tickets: 0,
        };
        let orders = state.load(0, 0).into_iter().collect();
        (state, orders)
    }

    /// The level on the screen.
    pub(super) fn top(&self) -> &Level {
        self.levels.last().expect("there always is a level")
    }

    fn top_list(&mut self) -> &mut List<Item> {
        &mut self.levels.last_mut().expect("there always is a level").list
    }

    /// The text beside the list: what is known, or that it is under way.
    pub(super) fn preview(&self) -> String {
        let Level { place, list } = self.top();
        let Some(item) = list.current() else { return String::new() };
        let request = place.text_of(item);
        match request.as_ref().map(|request| (request, self.texts.get(request))) {
            Some((_, Some(Ok(text)))) => text.clone(),
            Some((_, Some(Err(error)))) => format!("{}\n\n{error}", item.about()).trim_start().to_owned(),
            Some((Request::Page { .. }, None)) => "loading…".to_owned(),
            _ => item.about(),
        }
    }

    /// Whether something that is on the screen is being asked for.
    pub(super) fn is_loading(&self) -> bool {
        self.top().list.loading.is_some() || matches!(self.text_ticket, Some((_, Some(_))))
    }

    /// Takes an action, and says what to ask for.
    pub(super) fn apply(&mut self, action: Action) -> Vec<Order> {
        let mut orders = Vec::new();
        match action {
            Action::Drawn { rows, last_scroll } => {
                (self.rows, self.last_scroll) = (rows.max(1), last_scroll);
                self.scroll = self.scroll.min(last_scroll);
                return orders;
            }
            Action::Answered(ticket, answer) => self.answered(ticket, answer, &mut orders),
            Action::Changed(computer) => self.refresh(|place| place.computer() == Some(&computer), &mut orders),
            Action::Came(computer) => {
                self.notice = None;
                self.refresh(|place| place.computer().is_none_or(|at| at == computer), &mut orders);
            }
            Action::Went(computer) => {
                if self.top().place.computer() == Some(&computer) {
                    self.notice = Some(format!("'{computer}' has left the office"));
                }
                self.refresh(|place| *place == Place::Office, &mut orders);
            }
            Action::Lost(reason) => self.offline = Some(reason),
            Action::Restored => {
                self.offline = None;
                self.refresh(|_| true, &mut orders);
            }
            pressed => self.pressed(&pressed, &mut orders),
        }
        self.follow_up(&mut orders);
        orders
    }

    fn pressed(&mut self, action: &Action, orders: &mut Vec<Order>) {
        self.notice = None;
        let is_help = std::mem::take(&mut self.is_help);
        match action {
            Action::Quit => self.is_over = true,
            // Whatever is pressed to get rid of the help does nothing else.
            _ if is_help => {}
            Action::Help => self.is_help = true,
            Action::Step(by) => self.step(*by),
            Action::Leaf(by) => self.step(by.saturating_mul(isize::try_from(self.rows).unwrap_or(isize::MAX))),
            Action::First => self.step(isize::MIN),
            Action::Last => self.step(isize::MAX),
            Action::Scroll(by) => self.scroll = self.scroll.saturating_add_signed(*by).min(self.last_scroll),
            Action::Open => self.open(orders),
            Action::Back => self.back(orders),
            Action::Refresh => self.refresh(|_| true, orders),
            Action::NextType => self.next_type(orders),
            Action::Search if self.finder().is_some() => self.typing = Some(self.search.clone()),
            Action::Search => self.notice = Some("open a Computer first, then search its documents".to_owned()),
            Action::Type(c) => self.typing.get_or_insert_default().push(*c),
            Action::Erase => _ = self.typing.as_mut().and_then(String::pop),
            Action::Cancel => self.typing = None,
            Action::Submit => {
                if let Some(typed) = self.typing.take() {
                    let file_type = self.file_type.clone();
                    self.filter(typed.trim().to_owned(), file_type, orders);
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

    fn open(&mut self, orders: &mut Vec<Order>) {
        let Level { place, list } = self.top();
        let Some(item) = list.current() else { return };
        if let Some(place) = place.inside(item) {
            self.enter(place, orders);
        } else if let Some(request) = place.text_of(item) {
            // An element is shown as its page has it until it is asked for by itself.
            if self.text_ticket.is_none() && !matches!(self.texts.get(&request), Some(Ok(_))) {
                orders.push(self.order_text(request));
            }
        }
    }

    fn enter(&mut self, place: Place, orders: &mut Vec<Order>) {
        self.levels.push(Level { place, list: List::default() });
        self.scroll = 0;
        orders.extend(self.load(self.levels.len() - 1, 0));
    }

    fn back(&mut self, orders: &mut Vec<Order>) {
        let is_finder = matches!(self.top().place, Place::Finder { .. });
        if is_finder && (!self.search.is_empty() || self.file_type.is_some()) {
            self.filter(String::new(), None, orders);
        } else if self.levels.len() > 1 {
            self.levels.pop();
            self.scroll = 0;
        } else {
            self.notice = Some("q quits".to_owned());
        }
        if matches!(self.top().place, Place::Office) {
            self.types.clear();
        }
    }

    /// The level of the documents.
    fn finder(&self) -> Option<usize> {
        self.levels.iter().position(|level| matches!(level.place, Place::Finder { .. }))
    }

    /// Shows other documents; what was under way is no longer wanted.
    fn filter(&mut self, search: String, file_type: Option<String>, orders: &mut Vec<Order>) {
        let Some(finder) = self.finder() else { return };
        (self.search, self.file_type) = (search, file_type);
        self.levels.truncate(finder + 1);
        self.levels[finder].list = List::default();
        self.scroll = 0;
        orders.extend(self.load(finder, 0));
    }

    /// Only where documents are listed: further down it would throw the reader out of what they read.
    fn next_type(&mut self, orders: &mut Vec<Order>) {
        if !matches!(self.top().place, Place::Finder { .. }) {
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
        self.filter(search, next, orders);
    }

    /// Loads lists anew, where they are, and forgets the texts.
    fn refresh(&mut self, concerns: impl Fn(&Place) -> bool, orders: &mut Vec<Order>) {
        let concerned: Vec<usize> =
            (0..self.levels.len()).filter(|&depth| concerns(&self.levels[depth].place)).collect();
        if concerned.is_empty() {
            return;
        }
        self.texts.clear();
        if let Some((_, wanted)) = &mut self.text_ticket {
            *wanted = None;
        }
        for depth in concerned {
            let list = &mut self.levels[depth].list;
            match list.loading {
                Some(_) => list.is_stale = true,
                None => orders.extend(self.load(depth, 0)),
            }
        }
    }

    /// The request for a piece of a list.
    fn load(&mut self, depth: usize, offset: u64) -> Option<Order> {
        let level = self.levels.get(depth)?;
        let request = match level.place.clone() {
            Place::Office => Request::Computers,
            Place::Finder { computer } => Request::Documents {
                computer,
                keywords: self.search.split_whitespace().map(ToOwned::to_owned).collect(),
                file_type: self.file_type.clone(),
                offset,
                limit: match offset {
                    0 => (level.list.items.len() as u64).clamp(DOCUMENTS_AT_ONCE, DOCUMENTS_AT_MOST),
                    _ => DOCUMENTS_AT_ONCE,
                },
            },
            Place::Document { computer, uri, .. } => Request::Pages { computer, uri, offset },
            Place::Page { computer, uri, index, .. } => Request::Elements { computer, uri, index },
        };
        let order = self.order(request);
        let list = &mut self.levels[depth].list;
        list.loading = Some((order.ticket, offset));
        list.is_stale = false;
        Some(order)
    }

    fn order(&mut self, request: Request) -> Order {
        self.tickets += 1;
        Order { ticket: self.tickets, request }
    }

    fn order_text(&mut self, request: Request) -> Order {
        let order = self.order(request.clone());
        self.text_ticket = Some((order.ticket, Some(request)));
        order
    }

    fn answered(&mut self, ticket: Ticket, answer: Result<Answer, String>, orders: &mut Vec<Order>) {
        if let Some((_, wanted)) = self.text_ticket.take_if(|(open, _)| *open == ticket) {
            return self.take_text(wanted, answer);
        }
        let loads = |level: &Level| level.list.loading.is_some_and(|(open, _)| open == ticket);
        let Some(depth) = self.levels.iter().position(loads) else { return };
        let offset = self.levels[depth].list.loading.take().map_or(0, |(_, offset)| offset);
        match answer {
            Ok(Answer::Items { items, total }) => self.take_items(depth, offset, items, total, orders),
            Ok(Answer::Text(_)) => {}
            Err(error) => {
                self.levels[depth].list.has_failed = true;
                self.notice = Some(error);
            }
        }
        if self.levels.get(depth).is_some_and(|level| level.list.is_stale) {
            orders.extend(self.load(depth, 0));
        }
    }

    fn take_text(&mut self, wanted: Option<Request>, answer: Result<Answer, String>) {
        let Some(request) = wanted else { return };
        let text = match answer {
            Ok(Answer::Text(mut text)) => {
                if text.len() > LONGEST_TEXT {
                    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
                    text.push_str("…\n\n(it goes on; `a2c agent read` prints all of it)");
                }
                Ok(text)
            }
            Ok(Answer::Items { .. }) => return,
            Err(error) => Err(error),
        };
        if let Err(error) = &text {
            self.notice = Some(error.clone());
        }
        if self.texts.len() >= TEXTS {
            self.texts.clear();
        }
        self.texts.insert(request, text);
    }

    fn take_items(&mut self, depth: usize, offset: u64, items: Vec<Item>, total: u64, orders: &mut Vec<Order>) {
        for item in &items {
            if let Item::Document(document) = item
                && !document.file_type.is_empty()
            {
                self.types.insert(document.file_type.clone());
            }
        }
        self.levels[depth].list.take(offset, items, total, Item::is_same);
        let Level { place, list } = &self.levels[depth];
        if *place != Place::Office || list.items.is_empty() || !std::mem::take(&mut self.opens_single) {
            return;
        }
        // Nobody needs a list of one to choose from.
        if let [Item::Computer(computer)] = &self.levels[depth].list.items[..] {
            let place = Place::Finder { computer: computer.clone() };
            self.levels.clear();
            self.enter(place, orders);
        }
    }

    /// What the state as it is now asks for: more of a list whose end is near, and the text beside it.
    fn follow_up(&mut self, orders: &mut Vec<Order>) {
        if let Some(offset) = self.top().list.wants_more() {
            orders.extend(self.load(self.levels.len() - 1, offset));
        }
        let Level { place, list } = self.top();
        let wanted = list.current().and_then(|item| place.text_of(item));
        if let Some(request @ Request::Page { .. }) = wanted
            && self.text_ticket.is_none()
            && !self.texts.contains_key(&request)
        {
            orders.push(self.order_text(request));
        }
    }
}
