import Hummingbird
import RecordModel
import RecordStore

/// The frame of every change from a page: its preconditions, its confirmation, and its audit lines.
struct Changes: Sendable {
    let console: ConsolePages

    /// Whether pages can change anything but records.
    var areOffered: Bool { self.console.configuration.change != nil }

    // MARK: Forms

    /// A form with the session's secret, and with a last field for a name to confirm, where that is due.
    ///
    /// `name` is the text to type; `nil` if there is none. Production always asks for one. A change with
    /// such a name ends or deletes something, and its button has the colour of that.
    static func form(
        _ title: String,
        action: PageURL,
        _ request: PageRequest,
        place: Place,
        confirming name: String? = nil,
        _ body: Markup
    ) -> Markup {
        let mark: Markup = name == nil ? "" : " class=\"danger\""
        return self.form(
            action: action,
            request,
            place: place,
            confirming: name,
            buttons: "<button type=\"submit\"\(mark)>\(title)</button>",
            body
        )
    }

    /// The same with any buttons; their values select the change.
    static func form(
        action: PageURL,
        _ request: PageRequest,
        place: Place,
        confirming name: String? = nil,
        buttons: Markup,
        _ body: Markup
    ) -> Markup {
        """
        <form class="query" method="post" action="\(action)">
        \(Parts.hidden("secret", request.session.formSecret))
        \(body)
        \(self.confirmation(name, place))
        <p class="actions">\(buttons)</p>
        </form>
        """
    }

    private static func confirmation(_ name: String?, _ place: Place) -> Markup {
        guard let name = self.nameToType(name, place) else { return "" }
        return """
            <label class="wide"><span>To confirm, type \(Shown.text(name))</span>
            <input name="confirm" required autocomplete="off" spellcheck="false">
            </label>
            """
    }

    /// The name that confirms a change: its own, or in production at least that of the container.
    private static func nameToType(_ name: String?, _ place: Place) -> String? {
        name ?? (place.environment == .production ? place.container : nil)
    }

    /// - Throws: `PageFailure` unless the form has the name.
    static func checkConfirmed(
        _ request: PageRequest,
        _ place: Place,
        confirming name: String? = nil
    ) throws(PageFailure) {
        guard let name = self.nameToType(name, place) else { return }
        guard request.form["confirm"] == name else {
            throw PageFailure(
                .badRequest,
                "Not confirmed",
                "The name that was typed is not \(Shown.beginning(of: name, bytes: 255)). Nothing was changed: go back, "
                    + "and type it."
            )
        }
    }

    // MARK: Execution

    /// Makes a change, and writes it down.
    ///
    /// - Returns: The secret that came of it; `nil` if there is none.
    /// - Throws: `PageFailure` if it was refused.
    @discardableResult
    func make(_ action: OperatorChange.Action, in place: Place) async throws(PageFailure) -> String? {
        guard let change = self.console.configuration.change else {
            throw .invalid("The console only reads.")
        }
        let ticket = try self.begin(action.text, in: place, sentence: Self.sentence(action.text, place))
        let outcome = await change(
            OperatorChange(container: place.container, environment: place.environment, action: action)
        )
        switch outcome {
        case .done:
            self.end(ticket, .done)
            return nil
        case .secret(let text):
            self.end(ticket, .done)
            return text
        case .refused(let text):
            self.end(ticket, .refused, text)
            throw PageFailure(.conflict, "Not changed", Self.sentence(text))
        case .unknown(let text):
            self.end(ticket, .unknown, text)
            throw PageFailure(.conflict, "Perhaps changed", Self.sentence(text))
        }
    }

    /// Writes down that a change begins; `nil` if nothing is written down.
    ///
    /// `sentence` is what the terminal says of it once it is made, behind the name of the person.
    func begin(
        _ what: String,
        in place: Place,
        sentence: String
    ) throws(PageFailure) -> ConsoleAudit.Ticket? {
        guard let audit = self.console.configuration.audit else { return nil }
        do throws(ConsoleAudit.Failure) {
            return try audit.begin(
                what,
                container: place.container,
                environment: place.environment.name,
                sentence: sentence
            )
        } catch {
            throw PageFailure(
                .serviceUnavailable,
                "Not changed",
                "The record of changes in the data folder cannot be written, so nothing was changed. Check for a full "
                    + "disk, or a wrong owner of the file console.log."
            )
        }
    }

    func end(_ ticket: ConsoleAudit.Ticket?, _ outcome: ConsoleAudit.Outcome, _ text: String = "") {
        guard let ticket else { return }
        self.console.configuration.audit?.end(ticket, outcome, text: text)
    }

    static func sentence(_ what: String, _ place: Place) -> String {
        "used the console to \(what), in \(place.container) \(place.environment.name)"
    }

    /// Text of the command line as a sentence of a page.
    ///
    /// A text that begins with the name of a user stays as it is.
    private static func sentence(_ text: String) -> String {
        text.hasPrefix("the") ? text.prefix(1).uppercased() + text.dropFirst() : text
    }

    /// Leads to a page once a change was made, so that to load it again changes nothing.
    static func lead(to url: PageURL) -> Response {
        Response(status: .seeOther, headers: [.location: url.text])
    }
}
