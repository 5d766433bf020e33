"""Savings of ventilation that follows people: closed-loop studies of ventilation policies.

In the order of the data flow:

- `policies`: what a policy knows, and the policies
- `building`: ventilation of the simulated office: design flow, operating hours, damper
- `closed_loop`: CO2 -> policy -> outdoor air -> CO2, many runs at once, with live estimators
- `weather`, `energy`: a synthetic year, and the energy for outdoor air
- `outcome`: totals of a run: air, energy, person-hours, errors of the counts
- `commissioning`: training days of the estimators
- `schedule`, `co2_control`: a schedule from head counts, CO2 control tuned on earlier days
- `policy_list`, `study_settings`, `study`, `run_study`: training, tuning and evaluation for all seeds
- `result`, `example_day`, `tables`, `figures`, `savings_page`: means over seeds, and the report
- `energyplus`: the same policies in an EnergyPlus model of a small office
"""
