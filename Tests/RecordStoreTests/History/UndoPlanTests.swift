import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Records that an undo concerns, and its step for each.
struct UndoPlanTests {
    private static func change(
        _ position: Int64,
        _ name: String,
        _ kind: RecordChangeKind = .updated,
        by author: String = "_a",
        at milliseconds: Int64 = 0,
        installation: [UInt8] = []
    ) -> PastChange {
        PastChange(
            position: position,
            milliseconds: milliseconds,
            author: author,
            installation: installation,
            kind: kind,
            recordName: name,
            recordType: "Note",
            before: kind == .created ? nil : position - 1
        )
    }

    private static func plan(
        to target: UndoTarget,
        by author: ChangeAuthor? = nil,
        _ changes: [PastChange]
    ) -> UndoPlan {
        var plan = UndoPlan(to: target, by: author)
        for change in changes { plan.add(change) }
        return plan
    }

    @Test
    func `the first change behind the target says what a record was`() {
        let changes = [
            Self.change(4, "a"), Self.change(5, "b", .created), Self.change(6, "a", .deleted),
            Self.change(7, "a", .created), Self.change(8, "b"),
        ]
        let plan = Self.plan(to: .position(4), changes)
        #expect(plan.items.map(\.recordName) == ["b", "a"])
        #expect(plan.items.map(\.position) == [5, 6])
        #expect(plan.items.map(\.wasThere) == [false, true])
        #expect(plan.items.allSatisfy { $0.laterAuthor == nil })
        #expect(plan.changes == 4 && plan.position == 4)
        #expect(Self.plan(to: .position(8), changes).items == [])
        #expect(Self.plan(to: .position(3), changes).items.map(\.position) == [4, 5])
    }

    @Test
    func `a time leads to before the first later change, also if a clock went back after it`() {
        let changes = [
            Self.change(1, "a", at: 10), Self.change(2, "b", at: 20), Self.change(3, "c", at: 15),
            Self.change(4, "d", at: 30),
        ]
        #expect(Self.plan(to: .milliseconds(15), changes).items.map(\.recordName) == ["b", "c", "d"])
        #expect(Self.plan(to: .milliseconds(20), changes).position == 3)
        #expect(Self.plan(to: .milliseconds(30), changes).position == nil)
    }

    @Test
    func `of an author's changes those are contested that somebody else came after`() {
        let changes = [
            Self.change(1, "a", by: "_b"), Self.change(2, "a"), Self.change(3, "a"), Self.change(4, "b"),
            Self.change(5, "b", by: "_b"), Self.change(6, "b"), Self.change(7, "c", by: "_b"),
        ]
        let plan = Self.plan(to: .position(0), by: .user("_a"), changes)
        #expect(plan.items.map(\.recordName) == ["a", "b"])
        #expect(plan.items.map(\.position) == [2, 4])
        #expect(plan.items.map(\.laterAuthor) == [nil, "_b"])
        #expect(plan.changes == 4)
    }

    @Test
    func `an installation is told from the others of its user`() {
        let (here, there) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
        let changes = [
            Self.change(1, "a", installation: here), Self.change(2, "b", installation: there),
            Self.change(3, "a", installation: there), Self.change(4, "c"),
        ]
        let plan = Self.plan(to: .position(0), by: .installation(there), changes)
        #expect(plan.items.map(\.recordName) == ["b", "a"])
        #expect(plan.items.map(\.position) == [2, 3])
        #expect(Self.plan(to: .position(0), by: .installation(here), changes).items[0].laterAuthor == "_a")
    }

    // MARK: Steps

    private static let id = RecordID(zone: .default, recordName: "a")
    private static let system = SystemFields(
        createdMilliseconds: 1,
        modifiedMilliseconds: 2,
        createdBy: "_a",
        modifiedBy: "_a"
    )

    private static func body(_ fields: [String: FieldValue]) -> RecordBody {
        RecordBody(fields.map { Field(name: $0.key, value: $0.value) })
    }

    private static func past(
        _ fields: [String: FieldValue],
        type: String = "Note",
        parent: String? = nil
    ) -> PastRecord {
        PastRecord(
            name: "a",
            recordType: type,
            system: self.system,
            parent: parent,
            body: self.body(fields)
        )
    }

    private static func current(_ fields: [String: FieldValue], parent: String? = nil) -> Record {
        Record(
            id: self.id,
            recordType: "Note",
            changeTag: "7",
            system: self.system,
            parent: parent,
            body: self.body(fields)
        )
    }

    @Test
    func `a record is made again, deleted, or left`() {
        let save = RecordSave(id: Self.id, recordType: "Note", changes: Self.body(["n": .int64(1)]))
        #expect(UndoStep(Self.id, from: Self.past(["n": .int64(1)]), to: nil) == .create(save))
        #expect(UndoStep(Self.id, from: nil, to: Self.current([:])) == .delete)
        #expect(UndoStep(Self.id, from: nil, to: nil) == .none)
        #expect(
            UndoStep(Self.id, from: Self.past([:], type: "Other"), to: Self.current([:]))
                == .refuse(type: "Note")
        )
    }

    @Test
    func `a record gets the fields that it had, and loses the others, by its change tag`() {
        let step = UndoStep(
            Self.id,
            from: Self.past(["a": .int64(1), "b": .int64(2)], parent: "p"),
            to: Self.current(["b": .int64(2), "c": .int64(3)])
        )
        guard case .change(let save, let fields) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(fields == ["a", "c", "___parent"])
        #expect(save.changeTag == "7" && save.parent == .set(recordName: "p"))
        let changed = Self.body(["b": .int64(2), "c": .int64(3)]).merging(save.changes)
        #expect(changed == Self.body(["a": .int64(1), "b": .int64(2)]))
        let orphaned = UndoStep(Self.id, from: Self.past([:]), to: Self.current([:], parent: "p"))
        guard case .change(let save, ["___parent"]) = orphaned else {
            Issue.record("\(orphaned)")
            return
        }
        #expect(save.parent == .removed)
    }

    @Test
    func `a share that begins at a record is left as it is`() {
        let share: [String: FieldValue] = [
            ShareRecord.referenceField: .reference(Reference(recordName: "s", action: .none))
        ]
        #expect(UndoStep(Self.id, from: Self.past([:]), to: Self.current(share)) == .none)
        #expect(UndoStep(Self.id, from: Self.past(share), to: Self.current([:])) == .none)
        let save = RecordSave(id: Self.id, recordType: "Note", changes: .empty)
        #expect(UndoStep(Self.id, from: Self.past(share), to: nil) == .create(save))
    }
}
