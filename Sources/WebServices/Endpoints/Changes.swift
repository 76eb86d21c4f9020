import Foundation
import RecordJSON
import RecordModel
import RecordServer
import WireProtocol

extension WebRequest {
    /// `changes/database`, and the older `zones/changes`.
    ///
    /// Zones have no token: one that says "now" would make a client skip what it came for.
    func databaseChanges(tokenName: String) throws(WebInputError) -> any WebTask {
        let operation = FetchDatabaseChanges(
            scope: self.scope,
            token: try self.root.bytes(self.root[tokenName] == nil ? "syncToken" : tokenName) ?? [],
            limit: try self.root.limit
        )
        let items = WebItems(try self.form())
        return OneOperation(.fetchDatabaseChanges(operation), items) { outcomes, items in
            JSONOutput.webBody("zones", items.items) { output in
                let token = Data(outcomes.end.token).base64EncodedString()
                output.member("syncToken", token)
                if tokenName != "syncToken" { output.member(tokenName, token) }
                output.member("moreComing", literal: "\(outcomes.end.moreComing)")
            }
        }
    }
}

/// `changes/zone`, and the older `records/changes` for one zone: a page of each zone, one after another.
struct ZoneChangesTask: WebTask {
    private struct Asked {
        let operation: FetchChanges
        let form: WebForm
        let types: Set<String>?
    }

    private let asked: [Asked]
    /// Whether the response is that of the only zone.
    private let isFlat: Bool
    private var zones: [[UInt8]] = []
    private var recordsLeft = WebRequest.itemsMax
    private var failure: WebFailure?

    init(_ request: WebRequest, isFlat: Bool) throws(WebInputError) {
        self.isFlat = isFlat
        guard !isFlat else {
            self.asked = [try Self.asked(request.root, request)]
            return
        }
        self.asked = try request.list("zones").map { (node) throws(WebInputError) in
            try Self.asked(WebObject(node, of: "a zone"), request)
        }
    }

    /// A zone of the request; members of the whole request count where it has none.
    private static func asked(_ object: WebObject, _ request: WebRequest) throws(WebInputError) -> Asked {
        guard let zone = try object.zone("zoneID", own: request.own) else {
            throw WebInputError("a zone has no 'zoneID'", at: object.position)
        }
        let root = request.root
        let token = try object.bytes("syncToken") ?? []
        func owner(of name: String) -> WebObject { object[name] == nil ? root : object }
        let isReverse = try owner(of: "reverse").bool("reverse") ?? false
        guard !isReverse || token.isEmpty else {
            throw WebInputError("'reverse' is for a request without a token", at: object.position)
        }
        let types = try owner(of: "desiredRecordTypes").strings("desiredRecordTypes")
        return Asked(
            operation: FetchChanges(
                scope: request.scope,
                zone: zone,
                token: token,
                desiredKeys: try owner(of: "desiredKeys").strings("desiredKeys"),
                limit: try owner(of: "resultsLimit").limit,
                order: isReverse ? .newestFirst : .creation
            ),
            form: try request.form(object),
            types: types.map { Set($0) }
        )
    }

    mutating func next() -> WebStep {
        if let failure { return .fail(failure) }
        guard self.zones.count < self.asked.count else {
            return .respond(self.isFlat ? self.zones[0] : JSONOutput.webBody("zones", self.zones))
        }
        let asked = self.asked[self.zones.count]
        var operation = asked.operation
        // A zone at the end of a full response gets its turn with the next request: a page of one.
        operation.limit = min(operation.limit, UInt32(max(self.recordsLeft, 1)))
        return .perform(.fetchChanges(operation), WebItems(asked.form, types: asked.types))
    }

    mutating func replied(_ outcomes: Result<Outcomes, Failure>, _ items: WebItems) {
        let asked = self.asked[self.zones.count]
        switch outcomes {
        case .failure(let failure) where self.isFlat: self.failure = WebFailure(failure)
        case .failure(let failure):
            self.zones.append(
                WebFailure(failure).item(asked.form) { output in
                    output.name("zoneID")
                    output.webZone(asked.operation.zone, asked.form)
                }
            )
        case .success(let outcomes):
            let records = items.items
            self.recordsLeft -= records.count
            self.zones.append(
                JSONOutput.webBody("records", records) { output in
                    output.name("zoneID")
                    output.webZone(asked.operation.zone, asked.form)
                    output.member("syncToken", Data(outcomes.end.token).base64EncodedString())
                    output.member("moreComing", literal: "\(outcomes.end.moreComing)")
                }
            )
        }
    }
}
