import Hummingbird
import Logging

/// What is known of a request while it is answered.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The session, behind the gate.
    var session: Session?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
    }
}

/// What a page is made from: the path, the query, and the form that was sent.
struct PageRequest: Sendable {
    var path: [String: String]
    var query: FormItems
    var form: FormItems
    var session: Session
    /// Where a stream of events broke off; `nil` if it begins.
    var lastEventID: String?
}
