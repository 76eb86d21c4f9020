import RecordJSON
import RecordModel
import RecordServer
import WireProtocol

extension WebRequest {
    /// `zones/list`, and `zones/lookup` with the zones that are asked for.
    func zones(_ selection: FetchZones.Selection) throws(WebInputError) -> any WebTask {
        let form = try self.form()
        let operation = FetchZones(scope: self.scope, selection: selection)
        return OneOperation(.fetchZones(operation), WebItems(form)) { outcomes, _ in
            let zones = (0..<outcomes.count).map { number in
                let asked: ZoneID? = if case .ids(let ids) = selection { ids[number] } else { nil }
                return outcomes.item(at: number).webZone(asked, form)
            }
            return JSONOutput.webBody("zones", zones)
        }
    }

    func zonesLookup() throws(WebInputError) -> any WebTask {
        let ids = try self.list("zones").map { (node) throws(WebInputError) in
            try WebObject(node, of: "a zone").zoneOrID(own: self.own)
        }
        return try self.zones(.ids(ids))
    }
}

/// `zones/modify`: creates and deletes zones, in one request of the store.
struct ModifyZonesTask: WebTask {
    private let operation: ModifyZones
    private let form: WebForm
    /// The zones of the request, and the item of the operation that each is.
    private let asked: [(zone: ZoneID, item: Int)]
    private var response: WebStep?

    init(_ request: WebRequest) throws(WebInputError) {
        var (saves, deletes): ([ZoneID], [ZoneID]) = ([], [])
        var kinds: [(isSave: Bool, offset: Int, zone: ZoneID)] = []
        for node in try request.list("operations") {
            let object = try WebObject(node, of: "an operation")
            let zone = try WebObject(try object.required("zone"), of: "'zone'").zoneOrID(own: request.own)
            switch try object.requiredString("operationType") {
            case "create":
                kinds.append((true, saves.count, zone))
                saves.append(zone)
            case "delete":
                kinds.append((false, deletes.count, zone))
                deletes.append(zone)
            default:
                throw WebInputError(
                    "the operationType of a zone has to be create or delete",
                    at: object.position
                )
            }
        }
        self.operation = ModifyZones(scope: request.scope, saves: saves, deletes: deletes)
        self.asked = kinds.map { ($0.zone, $0.isSave ? $0.offset : saves.count + $0.offset) }
        self.form = try request.form()
    }

    mutating func next() -> WebStep {
        self.response ?? .perform(.modifyZones(self.operation), WebItems(self.form))
    }

    mutating func replied(_ outcomes: Result<Outcomes, Failure>, _ items: WebItems) {
        switch outcomes {
        case .failure(let failure): self.response = .fail(WebFailure(failure))
        case .success(let outcomes):
            let form = self.form
            let zones = self.asked.map { outcomes.item(at: $0.item).webZone($0.zone, form) }
            self.response = .respond(JSONOutput.webBody("zones", zones))
        }
    }
}

extension WebObject {
    /// A zone that is named by its ID, or by an object that has the ID.
    fileprivate func zoneOrID(own: String?) throws(WebInputError) -> ZoneID {
        if let zone = try self.zone("zoneID", own: own) { return zone }
        return try self.zone(own: own)
    }
}

extension ItemOutcome {
    /// A zone of a response.
    fileprivate func webZone(_ asked: ZoneID?, _ form: WebForm) -> [UInt8] {
        if case .failure(let failure) = self {
            return WebFailure(failure).item(form) { output in
                output.name("zoneID")
                output.webZone(asked ?? .default, form)
            }
        }
        var output = JSONOutput()
        output.object { output in
            output.name("zoneID")
            guard case .zone(let zone) = self else {
                output.webZone(asked ?? .default, form)
                return output.member("deleted", literal: "true")
            }
            output.webZone(zone.id, form)
            output.member("atomic", literal: "\(zone.capabilities.contains(.atomic))")
        }
        return output.text
    }
}
