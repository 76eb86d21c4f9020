import HTTPTypes
import PredicateFormat
import RecordModel
import RecordStore
import StorageContract

/// Why a page can't be shown: a title, what is wrong, and what to do.
struct PageFailure: Error, Hashable, Sendable {
    var status: HTTPResponse.Status
    var title: String
    var text: String

    init(_ status: HTTPResponse.Status, _ title: String, _ text: String) {
        self.status = status
        self.title = title
        self.text = text
    }

    static func missing(_ what: String) -> PageFailure {
        PageFailure(.notFound, "Not found", what)
    }

    static func invalid(_ text: String) -> PageFailure {
        PageFailure(.badRequest, "Not understood", text)
    }

    static let notSignedIn = PageFailure(
        .unauthorized,
        "No session",
        "Open the console with the link that tidemark console printed. A link works once, for five minutes. "
            + "For another, start the command again."
    )

    static let otherHost = PageFailure(
        .misdirectedRequest,
        "Another address",
        "The console answers at the address that it printed, and at no other name."
    )

    static let otherOrigin = PageFailure(
        .forbidden,
        "Refused",
        "A change has to come from a page of this console. Open the page again, and repeat the change."
    )

    /// A fault of the console's own.
    static let fault = PageFailure(
        .internalServerError,
        "A fault",
        "The console could not answer. Load the page again. If it fails again, report what the command has printed."
    )

    init(_ error: DirectoryError) {
        switch error {
        case .containerMissing: self = .missing("There is no container of this name.")
        case .userMissing: self = .missing("The container has no user or service of this name.")
        case .unavailable: self = .unavailable
        case .containerExists, .containerNameInvalid, .userExists, .userNameInvalid, .tokenUnknown,
            .tokenExpired, .userRevoked, .userIsService, .keyExists, .keyMissing, .tooManyKeys, .contactTaken:
            self = .invalid("The directory refuses this: \(error).")
        }
    }

    init(_ error: SchemaStoreError) {
        switch error {
        case .containerMissing: self = .missing("There is no container of this name.")
        case .unavailable: self = .unavailable
        case .userMissing: self = .missing("The container has no user or service of this name.")
        case .roleMissing: self = .missing("The schema of this environment has no such role.")
        case .contradictsProduction(let losses):
            self = .refused(
                "Production would lose data, so nothing was changed: \(Self.list(losses)). Development has to keep the "
                    + "types, fields and field types of production."
            )
        case .inUse(let losses):
            self = .refused(
                "Records in development would lose data, so nothing was changed: \(Self.list(losses)). Delete these records "
                    + "first, or all data of development."
            )
        case .beyondLimits(let excesses):
            self = .refused("The schema would exceed the server's limits: \(Self.list(excesses)).")
        }
    }

    private static func refused(_ text: String) -> PageFailure {
        PageFailure(.conflict, "Not possible", text)
    }

    /// The first of a list, in a sentence.
    private static func list(_ items: [some CustomStringConvertible]) -> String {
        let shownMax = 20
        let shown = items.prefix(shownMax).map(\.description).joined(separator: "; ")
        return items.count > shownMax ? "\(shown); and \(items.count - shownMax) more" : shown
    }

    /// `doing` says what did not work, such as "The query cannot be executed".
    init(_ error: StoreError, doing: String) {
        let row = error.row
        let isTransient = if case .after = row.retry { true } else { false }
        self.init(
            isTransient ? .serviceUnavailable : .badRequest,
            doing,
            row.text + (row.text.hasSuffix(".") ? "" : ".")
                + (isTransient ? " Load the page again soon." : "")
        )
    }

    private static let unavailable = PageFailure(
        .serviceUnavailable,
        "Not available now",
        "The store cannot be read now. Load the page again soon."
    )
}
