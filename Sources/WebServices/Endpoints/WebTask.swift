import RecordJSON
import RecordModel
import RecordServer
import WireProtocol

/// The work of a request, one operation after another.
///
/// Made on a thread, then used on the event loop of its connection.
protocol WebTask: Sendable {
    /// The next operation, or the response when there is none.
    mutating func next() -> WebStep
    /// An operation was executed, or refused.
    mutating func replied(_ outcomes: Result<Outcomes, Failure>, _ items: WebItems)
}

enum WebStep: Sendable {
    /// Its items go into the sink.
    case perform(Operation, WebItems)
    /// The body of a response with the status 200.
    case respond([UInt8])
    case fail(WebFailure)
}

/// The body of a request and its sender.
struct WebRequest: Sendable {
    /// Operations, lookups and zones of a request, and records of a response.
    static let itemsMax = 200

    let route: WebRoute
    let visitor: Visitor
    let root: WebObject
    /// Of its change.
    let requestID: RequestID

    var scope: DatabaseScope { self.route.scope }
    /// The user record name of who asks, which as an owner means the same as none.
    var own: String? { self.visitor.userRecordName }

    /// How the answer names zones and writes numbers; a zone of the request may say so for itself.
    func form(_ object: WebObject? = nil) throws(WebInputError) -> WebForm {
        var isText = false
        for object in [self.root, object ?? self.root] {
            // The page of Apple's misspells it.
            for name in ["numbersAsStrings", "numberAsStrings"] {
                if let flag = try object.bool(name) { isText = flag }
            }
        }
        return WebForm(owner: self.scope == .public ? nil : self.own, numbersAsStrings: isText)
    }

    /// A list of the request, which may not be too long.
    func list(_ name: String) throws(WebInputError) -> [JSONNode] {
        let node = try self.root.required(name)
        guard let elements = try self.root.array(name), elements.count <= Self.itemsMax else {
            throw WebInputError("'\(name)' may have \(Self.itemsMax) elements", at: node.position)
        }
        return elements
    }

    /// Makes the task of the request.
    func task() throws(WebFailure) -> any WebTask {
        do throws(WebInputError) {
            return try self.endpointTask()
        } catch {
            throw WebFailure(error)
        }
    }

    private func endpointTask() throws(WebInputError) -> any WebTask {
        switch self.route.endpoint {
        case .recordsModify: try ModifyRecordsTask(self)
        case .recordsQuery: try self.query()
        case .recordsLookup: try self.lookup()
        case .recordsChanges: try ZoneChangesTask(self, isFlat: true)
        case .changesZone: try ZoneChangesTask(self, isFlat: false)
        case .changesDatabase: try self.databaseChanges(tokenName: "syncToken")
        case .zonesChanges: try self.databaseChanges(tokenName: "metaSyncToken")
        case .zonesList: try self.zones(.all)
        case .zonesLookup: try self.zonesLookup()
        case .zonesModify: try ModifyZonesTask(self)
        case .usersCurrent, .usersCaller: CurrentUserTask(self.visitor)
        }
    }
}

/// A request that is one operation.
struct OneOperation: WebTask {
    private let operation: Operation
    private let items: WebItems
    private let write: @Sendable (Outcomes, WebItems) -> [UInt8]
    private var response: WebStep?

    /// - Parameters:
    ///   - operation: The operation.
    ///   - items: Its sink.
    ///   - write: Writes the body of the response.
    init(
        _ operation: Operation,
        _ items: WebItems,
        _ write: @escaping @Sendable (Outcomes, WebItems) -> [UInt8]
    ) {
        self.operation = operation
        self.items = items
        self.write = write
    }

    mutating func next() -> WebStep { self.response ?? .perform(self.operation, self.items) }

    mutating func replied(_ outcomes: Result<Outcomes, Failure>, _ items: WebItems) {
        switch outcomes {
        case .failure(let failure): self.response = .fail(WebFailure(failure))
        case .success(let outcomes): self.response = .respond(self.write(outcomes, items))
        }
    }
}

/// `users/current` and `users/caller`.
struct CurrentUserTask: WebTask {
    private let visitor: Visitor

    init(_ visitor: Visitor) { self.visitor = visitor }

    func next() -> WebStep {
        guard let user = self.visitor.userRecordName else {
            return .fail(WebFailure(.authenticationRequired, "the request needs a user"))
        }
        guard !self.visitor.isService else {
            return .fail(WebFailure(.accessDenied, "a service is no user: it may act on behalf of one"))
        }
        var output = JSONOutput()
        // Some clients read the user itself, others a list of one.
        output.object { output in
            output.member("userRecordName", user)
            output.name("users")
            output.array([user]) { output, user in
                output.object { $0.member("userRecordName", user) }
            }
        }
        return .respond(output.text)
    }

    func replied(_ outcomes: Result<Outcomes, Failure>, _ items: WebItems) {}
}
