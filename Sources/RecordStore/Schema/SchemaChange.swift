package import RecordModel

/// What an operator may do to the schemas of a container.
package enum SchemaChange: Hashable, Sendable {
    /// Puts a schema in place of development's.
    case replaceDevelopment(SchemaDocument)
    /// Gives production what development has.
    case deploy
    /// Gives development what production has, and drops all of development's data.
    case resetDevelopment
}

/// A change that the rules permit.
package struct SchemaPlan: Hashable, Sendable {
    /// Whose schema becomes another.
    package var environment: Environment
    package var old: SchemaDocument
    package var new: SchemaDocument
    package var dropsData: Bool

    package var difference: SchemaDifference { SchemaDifference(from: self.old, to: self.new) }

    /// What may go only while no record has it: the type of each, if there are records, stands in the way.
    package var losses: [SchemaLoss] {
        self.dropsData ? [] : SchemaRules.losses(from: self.old, to: self.new)
    }
}

extension SchemaRules {
    /// What a change makes of the schemas of both environments.
    ///
    /// - Throws: `contradictsProduction` when a type or a field of production would be lost, `beyondLimits` when an import or
    ///   a deploy would make more of them than there may be.
    package static func plan(
        _ change: SchemaChange,
        development: SchemaDocument,
        production: SchemaDocument
    ) throws(SchemaStoreError) -> SchemaPlan {
        let plan: SchemaPlan
        switch change {
        case .replaceDevelopment(let document):
            plan = SchemaPlan(
                environment: .development,
                old: development,
                new: self.completed(document, from: development),
                dropsData: false
            )
        case .deploy:
            plan = SchemaPlan(environment: .production, old: production, new: development, dropsData: false)
        case .resetDevelopment:
            plan = SchemaPlan(environment: .development, old: development, new: production, dropsData: true)
        }
        let losses = self.losses(from: production, to: plan.new)
        guard losses.isEmpty else { throw .contradictsProduction(losses) }
        let excesses = plan.dropsData ? [] : self.excesses(from: plan.old, to: plan.new)
        guard excesses.isEmpty else { throw .beyondLimits(excesses) }
        return plan
    }
}
