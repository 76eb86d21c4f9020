import Hummingbird
import Logging
import NIOCore

/// The context of a request while it is answered.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The session, behind the gate.
    var session: Session?
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.channel = source.channel
    }
}

/// The request for a page: the path, the query, and the form that was sent.
struct PageRequest: Sendable {
    var path: [String: String]
    var query: FormItems
    var form: FormItems
    var session: Session
    /// The last event of a stream that broke off; `nil` if it begins.
    var lastEventID: String?
}
