//! The operators of a page, one after the other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use a2c_document_model::UnreadableFile;
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction as Op;
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream, dict_or_stream};
use hayro_syntax::page::{Page, Resources};

use super::budget::PageBudget;
use super::form_stack::FormStack;
use super::marked::MarkStack;
use super::paths::PathCollector;
use super::state::StateStack;
use super::words::{PlacedGlyph, WordBuilder};
use super::{DrawnPage, DrawnPicture};
use crate::font::{CodeText, FontShelf, FontStyle, TextFont};
use crate::geometry::{PageFrame, PlaneMatrix};
use crate::pictures::PictureObject;
use crate::unpack::{streams_of, unpack};

/// The most streams that the content of a page is divided into.
const CONTENT_STREAMS: usize = 10_000;
/// The most pictures of a page.
const PICTURES: usize = 2_000;

/// What reading a page needs besides the page.
pub(crate) struct ContentSource<'s> {
    pub(crate) fonts: &'s mut FontShelf,
    /// The layers that are not shown.
    pub(crate) hidden_layers: &'s HashSet<ObjectIdentifier>,
    pub(crate) budget: PageBudget,
}

/// Reads what a page draws. What stands before a mistake is there in any case.
pub(crate) fn read_content(page: &Page<'_>, frame: &PageFrame, source: ContentSource<'_>) -> DrawnPage {
    let ContentSource { fonts, hidden_layers, budget } = source;
    let mut interpreter = Interpreter {
        fonts,
        hidden_layers,
        budget,
        forms: FormStack::default(),
        states: StateStack::new(frame.matrix),
        marks: MarkStack::default(),
        words: WordBuilder::default(),
        paths: PathCollector::default(),
        pictures: Vec::new(),
        known_pictures: HashMap::new(),
        unknown_glyphs: 0,
    };
    let cut = interpreter.page(page).err();
    DrawnPage {
        words: interpreter.words.finish(),
        rules: interpreter.paths.rules,
        pictures: interpreter.pictures,
        unknown_glyphs: interpreter.unknown_glyphs,
        cut,
    }
}

struct Interpreter<'s> {
    fonts: &'s mut FontShelf,
    hidden_layers: &'s HashSet<ObjectIdentifier>,
    budget: PageBudget,
    forms: FormStack,
    states: StateStack,
    marks: MarkStack,
    words: WordBuilder,
    paths: PathCollector,
    pictures: Vec<DrawnPicture>,
    known_pictures: HashMap<ObjectIdentifier, Option<PictureObject>>,
    unknown_glyphs: usize,
}

/// Where text stands, within one text object.
#[derive(Clone, Copy)]
struct TextPlace {
    line: PlaneMatrix,
    now: PlaneMatrix,
}

impl TextPlace {
    const START: Self = Self { line: PlaneMatrix::IDENTITY, now: PlaneMatrix::IDENTITY };

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = self.line.moved(x, y);
        self.now = self.line;
    }
}

/// The fonts of a content stream by their names, so that each is looked up once.
type NamedFonts = Vec<(Vec<u8>, Arc<TextFont>)>;

impl Interpreter<'_> {
    fn page(&mut self, page: &Page<'_>) -> Result<(), UnreadableFile> {
        let mut bytes = Vec::new();
        let mut broken = None;
        for stream in streams_of(page.raw(), "Contents", CONTENT_STREAMS) {
            match unpack(&stream, self.budget.stream_bytes.saturating_sub(bytes.len())) {
                Ok(part) if bytes.is_empty() => bytes = part,
                // An operator does not go on in the next stream.
                Ok(part) => {
                    bytes.push(b'\n');
                    bytes.extend(part);
                }
                Err(problem) => broken = Some(problem),
            }
        }
        self.budget.content(bytes.len())?;
        self.run(&bytes, page.resources())?;
        broken.map_or(Ok(()), Err)
    }

    fn run(&mut self, bytes: &[u8], resources: &Resources<'_>) -> Result<(), UnreadableFile> {
        let (floor, marks) = (self.states.depth(), self.marks.depth());
        let mut fonts = NamedFonts::new();
        let mut place = TextPlace::START;
        let mut operators = TypedIter::new(bytes);
        while let Some(operator) = operators.next() {
            self.budget.operation()?;
            self.operator(&operator, resources, floor, &mut fonts, &mut place)?;
        }
        self.states.restore_to(floor);
        self.marks.end_to(marks);
        self.paths.forget();
        Ok(())
    }

    fn operator(
        &mut self,
        operator: &Op<'_, '_>,
        resources: &Resources<'_>,
        floor: usize,
        fonts: &mut NamedFonts,
        place: &mut TextPlace,
    ) -> Result<(), UnreadableFile> {
        let state = &mut self.states.now;
        match operator {
            Op::SaveState(_) => self.states.save(),
            Op::RestoreState(_) => self.states.restore(floor),
            Op::Transform(m) => {
                let inner = PlaneMatrix::of_operands([&m.0, &m.1, &m.2, &m.3, &m.4, &m.5]);
                state.matrix = inner.then(&state.matrix);
            }
            Op::LineWidth(width) => state.line_width = width.0.as_f64(),
            Op::SetGraphicsState(name) => {
                self.budget.lookup()?;
                self.graphics_state(name.0, resources);
            }
            Op::BeginText(_) => *place = TextPlace::START,
            Op::TextFont(font) => {
                state.text.size = font.1.as_f64();
                let found = self.font(font.0, resources, fonts);
                self.states.now.text.font = found;
            }
            Op::CharacterSpacing(space) => state.text.letter_space = space.0.as_f64(),
            Op::WordSpacing(space) => state.text.word_space = space.0.as_f64(),
            Op::HorizontalScaling(stretch) => state.text.stretch = stretch.0.as_f64() / 100.0,
            Op::TextLeading(leading) => state.text.leading = leading.0.as_f64(),
            Op::TextRise(rise) => state.text.rise = rise.0.as_f64(),
            Op::TextRenderingMode(mode) => state.text.invisible = mode.0.as_i64() == 3,
            Op::SetTextMatrix(m) => {
                let matrix = PlaneMatrix::of_operands([&m.0, &m.1, &m.2, &m.3, &m.4, &m.5]);
                *place = TextPlace { line: matrix, now: matrix };
            }
            Op::NextLine(step) => place.next_line(step.0.as_f64(), step.1.as_f64()),
            Op::NextLineAndSetLeading(step) => {
                state.text.leading = -step.1.as_f64();
                place.next_line(step.0.as_f64(), step.1.as_f64());
            }
            Op::NextLineUsingLeading(_) => place.next_line(0.0, -state.text.leading),
            Op::ShowText(text) => self.show(text.0.as_bytes(), place)?,
            Op::NextLineAndShowText(text) => {
                place.next_line(0.0, -state.text.leading);
                self.show(text.0.as_bytes(), place)?;
            }
            Op::ShowTextWithParameters(text) => {
                state.text.word_space = text.0.as_f64();
                state.text.letter_space = text.1.as_f64();
                place.next_line(0.0, -state.text.leading);
                self.show(text.2.as_bytes(), place)?;
            }
            Op::ShowTexts(texts) => self.show_all(texts.0, place)?,
            Op::XObject(name) => {
                self.budget.lookup()?;
                self.x_object(name.0, resources)?;
            }
            Op::InlineImage(image) => self.picture(image.0, None),
            Op::BeginMarkedContent(mark) => self.marks.begin(mark.0, None, None, self.hidden_layers),
            Op::BeginMarkedContentWithProperties(mark) => {
                self.budget.lookup()?;
                self.begin_mark(mark.0, mark.1, resources);
            }
            Op::EndMarkedContent(_) => self.marks.end(),
            other => self.path(other),
        }
        Ok(())
    }

    fn path(&mut self, operator: &Op<'_, '_>) {
        let (matrix, width) = (self.states.now.matrix, self.states.now.line_width);
        let paths = &mut self.paths;
        let drawn_width = width * matrix.a.hypot(matrix.b);
        match operator {
            Op::MoveTo(to) => paths.move_to(&matrix, to.0.as_f64(), to.1.as_f64()),
            Op::LineTo(to) => paths.line_to(&matrix, to.0.as_f64(), to.1.as_f64()),
            Op::CubicTo(to) => paths.curve_to(&matrix, to.4.as_f64(), to.5.as_f64()),
            Op::CubicStartTo(to) => paths.curve_to(&matrix, to.2.as_f64(), to.3.as_f64()),
            Op::CubicEndTo(to) => paths.curve_to(&matrix, to.2.as_f64(), to.3.as_f64()),
            Op::ClosePath(_) => paths.close(),
            Op::RectPath(r) => {
                paths.rectangle(&matrix, [r.0.as_f64(), r.1.as_f64(), r.2.as_f64(), r.3.as_f64()]);
            }
            Op::StrokePath(_) | Op::FillAndStrokeNonZero(_) | Op::FillAndStrokeEvenOdd(_) => paths.stroke(drawn_width),
            Op::CloseAndStrokePath(_) | Op::CloseFillAndStrokeNonZero(_) | Op::CloseFillAndStrokeEvenOdd(_) => {
                paths.close();
                paths.stroke(drawn_width);
            }
            Op::FillPathNonZero(_) | Op::FillPathNonZeroCompatibility(_) | Op::FillPathEvenOdd(_) => paths.fill(),
            Op::EndPath(_) => paths.forget(),
            _ => {}
        }
    }

    fn graphics_state(&mut self, name: &Name<'_>, resources: &Resources<'_>) {
        let Some(settings) = resources.get_ext_g_state(name) else { return };
        if let Some(width) = settings.get::<f64>("LW") {
            self.states.now.line_width = width;
        }
        let Some(font) = settings.get::<Array<'_>>("Font") else { return };
        let id = font.raw_iter().next().and_then(|font| font.as_obj_ref()).map(ObjectIdentifier::from);
        let mut parts = font.flex_iter();
        if let (Some(dict), Some(size)) = (parts.next::<Dict<'_>>(), parts.next::<f64>()) {
            let most = self.budget.stream_bytes;
            self.states.now.text.font = Some(self.fonts.font(id, &dict, most));
            self.states.now.text.size = size;
        }
    }

    fn font(&mut self, name: &Name<'_>, resources: &Resources<'_>, fonts: &mut NamedFonts) -> Option<Arc<TextFont>> {
        if let Some((_, font)) = fonts.iter().find(|(known, _)| known == name.as_ref()) {
            return Some(font.clone());
        }
        let dict = resources.get_font(name)?;
        let id = resources.fonts.get_ref(name.as_ref()).map(ObjectIdentifier::from);
        let font = self.fonts.font(id, &dict, self.budget.stream_bytes);
        fonts.push((name.as_ref().to_vec(), font.clone()));
        Some(font)
    }

    fn show_all(&mut self, texts: &Array<'_>, place: &mut TextPlace) -> Result<(), UnreadableFile> {
        for part in texts.iter::<Object<'_>>() {
            match part {
                Object::String(text) => self.show(text.as_bytes(), place)?,
                Object::Number(number) => {
                    let text = &self.states.now.text;
                    let step = -number.as_f64() / 1000.0 * text.size;
                    let is_vertical = text.font.as_ref().is_some_and(|font| font.is_vertical());
                    place.now = match is_vertical {
                        true => place.now.moved(0.0, step),
                        false => place.now.moved(step * text.stretch, 0.0),
                    };
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn show(&mut self, bytes: &[u8], place: &mut TextPlace) -> Result<(), UnreadableFile> {
        let text = &self.states.now.text;
        let font = text.font.clone().unwrap_or_else(|| Arc::new(TextFont::missing()));
        let (size, stretch, rise) = (text.size, text.stretch, text.rise);
        let (letter_space, word_space) = (text.letter_space, text.word_space);
        let (hidden, role) = (self.marks.is_hidden(), self.marks.role());
        let page = self.states.now.matrix;
        let is_vertical = font.is_vertical();
        // The font of invisible text says nothing of how the page looks.
        let style = if text.invisible { FontStyle::default() } else { font.style };
        let own = PlaneMatrix::new([size * stretch, 0.0, 0.0, size, 0.0, rise]);
        let mut rest = bytes;
        while !rest.is_empty() {
            self.budget.glyph()?;
            let code = font.code(rest);
            rest = &rest[code.bytes.min(rest.len())..];
            let width = f64::from(code.advance) / 1000.0;
            let space = letter_space + if code.is_blank { word_space } else { 0.0 };
            if !hidden {
                let mut letter = [0; 4];
                let actual = self.marks.actual_text();
                let text: &str = match (&actual, &code.text) {
                    (Some(text), _) => text,
                    (None, CodeText::One(c)) => c.encode_utf8(&mut letter),
                    (None, CodeText::Several(text)) => text,
                    (None, CodeText::Owned(text)) => text,
                    (None, CodeText::Unknown) => {
                        self.unknown_glyphs += 1;
                        "\u{fffd}"
                    }
                };
                // Letters that are set apart belong together: the space after a letter is part of it.
                let spread = if size.abs() > 0.0 { (letter_space / size).clamp(-1.0, 1.0) } else { 0.0 };
                self.words.push(&PlacedGlyph {
                    text,
                    matrix: own.then(&place.now).then(&page),
                    advance: width + spread,
                    is_vertical,
                    style,
                    role,
                    em: font.em,
                });
            }
            place.now = match is_vertical {
                true => place.now.moved(0.0, -(width * size) - space),
                false => place.now.moved((width * size + space) * stretch, 0.0),
            };
        }
        Ok(())
    }

    fn begin_mark(&mut self, tag: &Name<'_>, properties: &Object<'_>, resources: &Resources<'_>) {
        let name = properties.clone().into_name();
        let layer = name.as_ref().and_then(|name| resources.properties.get_ref(name.as_ref()));
        let dict = match name {
            Some(name) => resources.properties.get::<Dict<'_>>(name),
            None => dict_or_stream(properties).map(|(dict, _)| dict.clone()),
        };
        self.marks.begin(tag.as_ref(), dict.as_ref(), layer, self.hidden_layers);
    }

    fn x_object(&mut self, name: &Name<'_>, resources: &Resources<'_>) -> Result<(), UnreadableFile> {
        let Some(stream) = resources.get_x_object(name) else { return Ok(()) };
        let dict = stream.dict();
        let layer = dict.get_ref("OC").map(ObjectIdentifier::from);
        if self.marks.is_hidden() || layer.is_some_and(|layer| self.hidden_layers.contains(&layer)) {
            return Ok(());
        }
        match dict.get::<Name<'_>>("Subtype").as_deref() {
            Some(b"Image") => self.picture(&stream, resources.x_objects.get_ref(name.as_ref()).map(Into::into)),
            Some(b"Form") => self.form(&stream, resources)?,
            _ => {}
        }
        Ok(())
    }

    fn form(&mut self, stream: &Stream<'_>, resources: &Resources<'_>) -> Result<(), UnreadableFile> {
        let Some(bytes) = self.forms.begin(stream, &mut self.budget)? else { return Ok(()) };
        let own = stream.dict().get::<Dict<'_>>("Resources").map(Resources::new);
        self.states.save();
        let depth = self.states.depth();
        if let Some(matrix) = stream.dict().get::<[f64; 6]>("Matrix") {
            self.states.now.matrix = PlaneMatrix::new(matrix).then(&self.states.now.matrix);
        }
        let read = self.run(&bytes, own.as_ref().unwrap_or(resources));
        self.states.restore_to(depth);
        self.states.restore(depth.saturating_sub(1));
        self.forms.end();
        read
    }

    /// What is known of a picture: looked up once a page, however often it is drawn.
    fn picture_facts(&mut self, stream: &Stream<'_>, id: Option<ObjectIdentifier>) -> Option<PictureObject> {
        let Some(number) = id else { return PictureObject::of(stream, None) };
        let known = self.known_pictures.entry(number);
        known.or_insert_with(|| PictureObject::of(stream, id)).clone()
    }

    fn picture(&mut self, stream: &Stream<'_>, id: Option<ObjectIdentifier>) {
        let place = self.states.now.matrix.apply_box(0.0, 0.0, 1.0, 1.0);
        if self.pictures.len() < PICTURES
            && place.is_finite()
            && let Some(facts) = self.picture_facts(stream, id)
        {
            self.pictures.push(DrawnPicture { place, facts });
        }
    }
}
